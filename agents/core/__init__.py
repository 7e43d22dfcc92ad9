"""What every search shares: limits, budget, results, mate distance, the gate."""
