"""Small helpers: files, install lines, names that load late, specs as text."""
