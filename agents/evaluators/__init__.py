"""Static evaluations: what a position is worth without searching it."""
