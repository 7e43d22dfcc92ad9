"""What is known of an environment: declared by it, known of its class, or seen in random play."""
