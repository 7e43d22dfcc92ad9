"""What people and programs read: progress, reports, exported tables."""
