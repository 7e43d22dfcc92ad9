"""Models of other players: what they would do, and what they may hold."""
