"""Grade a class: its folder, a resumable run, records and similar answers.

Submissions are graded by processes on this machine (`workers`), by a dask cluster or
on Colab (`on_drive`). A `writer` makes the gradebook and the pages. Workers and writer
are separate processes with resource limits from the kernel.
"""
