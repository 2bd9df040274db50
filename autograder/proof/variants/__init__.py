"""Mark wrong variants and right styles of answers, and put them into a notebook."""

from autograder.proof.variants.registry import Variant, load_variants, right, wrong
from autograder.proof.variants.substitution import UnknownAnswer, substitute

__all__ = ["UnknownAnswer", "Variant", "load_variants", "right", "substitute", "wrong"]
