"""A closer look at the parts of the model, which does not need anything in here."""
