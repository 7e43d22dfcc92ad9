"""The old name of ``textbook``."""

raise ImportError("zermelo.agents.algorithms is zermelo.agents.textbook since 0.3: import its names from there")
