"""Define wrong and right variants of answers, and insert them into a notebook."""

from autograder.proof.variants.answers import Answer, answer
from autograder.proof.variants.changes import body, drop, insert, swap
from autograder.proof.variants.registry import (
    UnusableFile,
    Variant,
    load_variants,
    right,
    wrong,
)
from autograder.proof.variants.substitution import UnknownAnswer, substitute

__all__ = [
    "Answer",
    "UnknownAnswer",
    "UnusableFile",
    "Variant",
    "answer",
    "body",
    "drop",
    "insert",
    "load_variants",
    "right",
    "substitute",
    "swap",
    "wrong",
]
