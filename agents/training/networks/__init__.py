"""Networks that learn from games that they play against themselves, and the kernels that do it."""
