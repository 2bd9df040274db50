"""Hostile notebooks. Each tries to gain points, to read, to stay, or to do harm."""

from attacks import (
    built_ins,
    files,
    leaving,
    marks,
    patching,
    protocol,
    reading,
    resources,
    showing,
)

KINDS = [
    *(marks, patching, built_ins, protocol, reading),
    *(leaving, resources, files, showing),
]
ATTACKS = [case for module in KINDS for case in module.ATTACKS]
ONE_OF_EACH_KIND = [module.ATTACKS[0] for module in KINDS]
