"""Training: one step as the paper takes it, and long runs of them."""
