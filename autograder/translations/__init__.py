"""Keep the Korean edition in step with the English text, its only source.

Every sentence of the course is a message of a catalogue under `book/locale/ko/`:

- `LC_MESSAGES/PAGE.po`: a page of the book, found by Sphinx (`book.py`);
- `notebooks/NN_topic.po`: a notebook, found in the released one (`notebooks.py`);
- `notebooks/errors.po`: what a notebook says above an error (`sources.py`);
- `feedback/…`: what hidden checks and the grader say of a submission;
- `README.po`: the README (`markdown.py`).

`sources.py` gathers them, `catalogue.py` reads and writes them, `faults.py` says what
is wrong with a translation. What has no translation, or a stale one, shows in English.
"""
