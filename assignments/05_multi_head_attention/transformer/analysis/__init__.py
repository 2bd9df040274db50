"""Tools that analyse parts of the model; the model itself does not use them."""
