"""What chapters ask beside the paper: their small tasks, models and measurements.

`complexity` and `report` are what students write in units 12 and 13.
"""
