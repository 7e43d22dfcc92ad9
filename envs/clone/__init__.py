"""Independent copies of live environments, and proofs that they are right."""
