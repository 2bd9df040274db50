"""nbgrader reads this file; the settings are in ``autograder/nbgrader_settings.py``."""

from autograder.nbgrader_settings import configure

configure(get_config())  # noqa: F821 (nbgrader defines it)
