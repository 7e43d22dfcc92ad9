"""Learned evaluations in compiled code: patterns and networks over planes."""
