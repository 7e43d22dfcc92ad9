"""Games solved: who wins, by how much, and the policy that does it."""
