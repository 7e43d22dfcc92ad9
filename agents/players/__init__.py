"""The agents: searches with their settings, baselines, learned policies."""
