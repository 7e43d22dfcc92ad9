"""Small helpers: files, processes, install lines, names that load late, specs as text."""
