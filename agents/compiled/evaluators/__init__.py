"""Learned evaluations in compiled code."""
