"""Max^n, paranoid and best reply, for three players and more. The last two run on ``alpha_beta.plain``."""
