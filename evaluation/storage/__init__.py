"""Where records of games go as they are played, and how they are read again."""
