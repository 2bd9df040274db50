"""Grade written answers by hand or by their substance, or do not count them.

`own_words.py` finds the words of an answer that were not copied, `substance.py` decides
whether they are enough, and `settling.py` updates the gradebook to the mode in
`course.toml`.
"""
