"""Make Python collect garbage less often; import this module first.

Imports create hundreds of thousands of objects that are never garbage. If Python
repeatedly searches them for garbage, this takes a quarter of a command's start-up time.
"""

import gc

SELDOM = 50_000  # new objects between two collections; Python's default is 700

gc.set_threshold(SELDOM)
