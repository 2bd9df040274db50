"""How written answers count: by hand, for an answer of substance, or not at all.

`own_words.py` finds what of an answer is its author's, `substance.py` says whether that
is enough, and `settling.py` brings the gradebook to what `course.toml` asks for.
"""
