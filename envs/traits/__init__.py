"""Traits of environments: declared, known of the class, or inferred from random play."""
