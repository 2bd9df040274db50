"""Imported before all else, this lets Python look for garbage more seldom.

Hundreds of thousands of objects are made by imports, and stay: to look through them for
garbage again and again takes a quarter of the time of a command's start.
"""

import gc

SELDOM = 50_000  # new objects; Python's own number is 700

gc.set_threshold(SELDOM)
