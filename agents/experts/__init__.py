"""What is known of one game, a folder each, which can be deleted with its name in ``base.experts``."""
