"""Every figure that the book and the notebooks share, one module a topic."""
