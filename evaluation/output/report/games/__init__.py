"""The games of a report: which are shown, and what the page is told of each."""
