"""Tools that analyse parts of the model, which itself does not use them."""
