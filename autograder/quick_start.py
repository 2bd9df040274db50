"""Make Python collect garbage less often; import this module first.

Imports create hundreds of thousands of objects that stay. Searching them for garbage
again and again takes a quarter of the start-up time of a command.
"""

import gc

SELDOM = 50_000  # new objects between two collections; Python's default is 700

gc.set_threshold(SELDOM)
