"""A class: its folder, one run through its submissions, and what was recorded."""
