"""The board as a page: a server on the loopback address, its guard, and the page."""
