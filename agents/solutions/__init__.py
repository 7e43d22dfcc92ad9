"""Results of solving: values and best play of positions, and policies as tables."""
