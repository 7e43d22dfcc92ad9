"""Max^n over compiled rules."""
