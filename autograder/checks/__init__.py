"""The hidden checks, one file for each unit; students never see them."""
