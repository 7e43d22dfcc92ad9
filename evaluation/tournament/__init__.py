"""A tournament: what is planned, when it stops, and how it is run and resumed."""
