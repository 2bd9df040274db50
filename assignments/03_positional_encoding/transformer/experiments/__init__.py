"""What one chapter alone asks: its small tasks, models and measurements."""
