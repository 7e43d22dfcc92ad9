"""Independent copies of live environments."""
