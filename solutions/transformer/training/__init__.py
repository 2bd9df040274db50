"""Training: one step as in the paper, and long runs of steps.

Students write `step` in unit 10, and `loop` runs it for many epochs.
"""
