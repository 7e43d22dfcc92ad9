"""AEC environments as games."""
