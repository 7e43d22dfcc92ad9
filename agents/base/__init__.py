"""What every agent and every search shares: limits, budget, settings, requirements, results, scores."""
