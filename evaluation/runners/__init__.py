"""Where the games of a schedule are played: this process, worker processes, a Ray cluster."""
