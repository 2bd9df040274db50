"""Training: one step as the paper takes it, and long runs of them.

`step` is what students write in unit 10; `loop` takes it through epochs.
"""
