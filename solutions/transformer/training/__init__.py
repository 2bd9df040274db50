"""Training: one step as in the paper, and training runs of many steps.

Students write `step` in unit 10, and `loop` runs it for many epochs.
"""
