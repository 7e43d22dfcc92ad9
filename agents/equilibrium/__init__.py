"""Policies that nobody can exploit: CFR, the sequence form, matrix games."""
