"""Keep the Korean edition up to date with the English text.

Every sentence in the course is a message in a catalogue under `book/locale/ko/`:

- `LC_MESSAGES/PAGE.po`: a page of the book, extracted by Sphinx (`book.py`).
- `notebooks/NN_topic.po`: a released notebook (`notebooks.py`).
- `notebooks/errors.po`: the explanations above errors in notebooks (`sources.py`).
- `feedback/…`: the comments of hidden checks and the grader on a submission.
- `README.po`: the README (`markdown.py`).

`sources.py` collects the messages, `catalogue.py` reads and writes the catalogues, and
`faults.py` reports errors in a translation. Text without a current translation appears
in English.
"""
