"""Who is better, computed from records: standings, intervals, ratings."""
