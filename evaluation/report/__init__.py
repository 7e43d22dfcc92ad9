"""A tournament to look at: one HTML file with ratings, tables and games to step through."""
