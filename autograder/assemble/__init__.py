"""Make the notebooks of the course from their master files.

A master `solutions/notebooks/NN_topic/NN_topic.md` contains prose, visible checks and
points. `solutions/notebooks/README.md` describes its format. From it, the assembler
makes

1. the answer notebook in the same folder (`notebook.py`), with each answer from the
   package by `inspect.getsource` (`answers.py`) and stable cell ids (`identity.py`);
2. the released notebook `assignments/NN_topic/NN_topic.ipynb` (`release.py`), by
   nbgrader's own `generate_assignment` with three steps of ours (`preprocessors.py`);
3. the kit `assignments/NN_topic/transformer/` (`kit.py`).

`assembler.py` either completes all of these steps or changes nothing, and a second run
changes nothing. `audit.py` searches a release for text that must not be in it.
"""
