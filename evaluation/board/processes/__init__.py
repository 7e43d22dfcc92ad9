"""What agents do for a board: processes of their own, and what these are asked and answer."""
