"""The trained model that comes with the course, and the command that makes it."""

from transformer.shipped_model.weights import (
    ShippedModel,
    ShippedModelError,
    load_shipped_model,
    save_shipped_model,
)

__all__ = [
    "ShippedModel",
    "ShippedModelError",
    "load_shipped_model",
    "save_shipped_model",
]
