"""The old name of ``training``."""

raise ImportError("zermelo.agents.learning is zermelo.agents.training since 0.3: import its names from there")
