"""The model that comes with the course, and how it is made."""

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
