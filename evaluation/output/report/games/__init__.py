"""The games of a report: the choice of those that are shown, and their data."""
