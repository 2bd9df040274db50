"""Grade a class, continue interrupted runs, and find similar answers.

Submissions are graded by processes on this machine (`workers`), by a dask cluster
(`cluster`) or on Colab (`on_drive`). The `writer` process writes the gradebook and the
pages. The kernel limits the resources of workers and writer, which are separate
processes.
"""
