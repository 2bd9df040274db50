"""Mark wrong variants and right styles of answers, and put them into a notebook."""

from autograder.variants.registry import Variant, load_variants, right, wrong
from autograder.variants.substitution import UnknownAnswer, substitute

__all__ = ["UnknownAnswer", "Variant", "load_variants", "right", "substitute", "wrong"]
