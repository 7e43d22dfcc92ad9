"""The parts of a report, each HTML of its own that can be read without the page's script."""
