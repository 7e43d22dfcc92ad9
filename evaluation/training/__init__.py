"""How strong a policy is while it is trained."""
