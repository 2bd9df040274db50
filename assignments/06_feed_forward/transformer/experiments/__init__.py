"""The chapters' experiments beyond the paper: small tasks, models, measurements.

Students write `complexity` in unit 12 and `report` in unit 13.
"""
