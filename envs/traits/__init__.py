"""Traits of environments: declared, known of the class, or seen in play."""
