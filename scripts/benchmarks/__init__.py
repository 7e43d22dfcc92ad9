"""The benchmarks that ``scripts/bench.py`` runs: functions that yield the lines of a table."""
