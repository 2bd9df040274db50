"""Analysis of the model's parts; the model itself does not need this package."""
