"""The pictures of the instructor's guide, taken from the running programs.

`make pictures` sets a sample class up, grades it, starts JupyterLab's server and a
browser, and writes `book/_static/guide/`. The tests of the two use the same server.
"""
