"""All figures that the book and the notebooks share, with one module per topic."""
