"""Hostile notebooks: each tries to gain points, to read, to stay, or to do harm."""

from attacks import (
    files,
    leaving,
    marks,
    patching,
    protocol,
    reading,
    resources,
    showing,
)

ATTACKS = [
    case
    for module in (
        *(marks, patching, protocol, reading),
        *(leaving, resources, files, showing),
    )
    for case in module.ATTACKS
]
