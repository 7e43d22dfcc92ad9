"""What boards look like."""
