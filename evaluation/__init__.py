"""Who is better? Matches, tournaments and the tables they end in."""

__all__: list[str] = []
