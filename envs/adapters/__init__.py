"""Live environments as games: one module an ecosystem."""
