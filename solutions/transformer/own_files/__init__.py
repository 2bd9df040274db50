"""Train on your own text files, in any pair of languages and of any size.

`text` reads and checks the files, `numbered` stores the sentences as ids on the disk,
`batches` reads them from there, and `prepare` does all steps for a training run.
"""
