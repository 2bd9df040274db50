"""A class: its folder, a run through its submissions, records, and look-alikes.

Who grades is a process here (`workers`), a dask cluster, or Colab (`on_drive`); a
`writer` makes gradebook and pages. Both are worker processes, which the kernel limits.
"""
