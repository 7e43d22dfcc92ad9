"""A search drawn as a tree: recorded step by step, as a page to go through and as SVG for papers."""
