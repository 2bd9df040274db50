"""Count written answers by hand, by their substance, or not at all.

`own_words.py` finds the words of an answer that are its author's own, `substance.py`
decides whether they are enough, and `settling.py` makes the gradebook follow
`course.toml`.
"""
