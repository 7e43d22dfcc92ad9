"""How strong a policy is, rated once or while it is trained, and networks that learn by self-play."""
