"""The package of the tiny course."""
