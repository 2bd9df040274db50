"""Replace all parts of one class in a model with newer parts."""

from collections.abc import Callable

from torch import nn

from transformer.model import Transformer


def swap(
    model: Transformer,
    kind: type[nn.Module],
    make: Callable[[], nn.Module],
    within: str = "",
) -> Transformer:
    """Replace all parts of one class, and initialise the new ones like a `Transformer`.

    Args:
        model: changed in place.
        kind: the exact class of the parts to replace; subclasses stay.
        make: a function that makes one new part.
        within: text that the part's name in the model must contain; "" for any name.

    Returns:
        The same model.

    Raises:
        ValueError: if the model has no such part.
    """
    found = [
        name
        for name, part in model.named_modules()
        if type(part) is kind and within in name
    ]
    if not found:
        raise ValueError(
            f"the model has no {kind.__name__} with {within!r} in its name"
        )
    for name in found:
        parent, _, last = name.rpartition(".")
        new = make()
        for parameter in new.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        setattr(model.get_submodule(parent), last, new)
    return model
