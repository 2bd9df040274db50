"""Describe how the written answers of a unit count."""

from __future__ import annotations

from autograder.course import SUBSTANCE, UNCOUNTED
from autograder.written.settling import Settled


def lines_about(slug: str, now: Settled) -> list[str]:
    """Return lines that state how many answers have substance, or that none counts."""
    if now.mode == UNCOUNTED:
        return [f"{slug}: written answers do not count; every score is scaled."]
    if now.mode != SUBSTANCE:
        return []
    found = [one for by in now.verdicts.values() for one in by.values()]
    full = sum(one.has_substance is True for one in found)
    none = sum(one.has_substance is False for one in found)
    unclear = len(found) - full - none
    words = f"{slug}: {full} written answers have substance, {none} have none"
    if unclear:
        words += f", {unclear} are pictures and await a human"
    return [f"{words}: see `course report {slug[:2]}`."]
