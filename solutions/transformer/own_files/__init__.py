"""Train on text files of one's own, in any pair of languages and of any size.

`text` reads and refuses, `numbered` keeps the sentences as numbers on the disk,
`batches` takes them from there, and `prepare` does it all for a training run.
"""
