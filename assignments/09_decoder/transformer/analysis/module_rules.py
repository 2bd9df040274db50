"""Check that a student's module keeps the rules of the notebooks."""

import torch
from torch import Tensor, nn
from torch.func import functional_call

from transformer.analysis.notebook_rules import require_rules


def require_module_rules(module: nn.Module, *inputs: Tensor) -> None:
    """Check that a module keeps the rules of the notebooks and uses all its weights.

    Args:
        module: a module for inputs with one batch axis. Its result, or its first
            result, is a tensor that is deterministic in evaluation mode. The module is
            left in evaluation mode.
        inputs: the arguments without the batch axis. The first is a float32 tensor, and
            the others are float32 tensors or Boolean masks.

    Raises:
        AssertionError: if the module breaks a rule. The message names the rule.
    """

    def call(*given: Tensor) -> Tensor:
        """Call the module on inputs with any number of leading axes."""
        weights = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        weights = {name: weight.to(given[0]) for name, weight in weights.items()}
        pairs = zip(given, inputs, strict=True)
        batches = tuple(x.reshape(-1, *one.shape) for x, one in pairs)
        result = functional_call(module, weights, batches)
        result = result if isinstance(result, Tensor) else result[0]
        leading = given[0].shape[: given[0].dim() - inputs[0].dim()]
        return result.reshape(*leading, *result.shape[1:])

    require_rules(call, *inputs)
    _require_every_weight(module, call(*inputs))
    for training in (True, False):
        module.train(training)
        call(*inputs)
        assert all(part.training == training for part in module.modules()), (
            "a call changes the mode of your module: call no train() or eval() in it"
        )


def _require_every_weight(module: nn.Module, result: Tensor) -> None:
    """Check that the result depends on every weight of the module."""
    weights = {name: x for name, x in module.named_parameters() if x.requires_grad}
    assert result.requires_grad, (
        "no gradient flows back to the weights: use no detach, numpy or torch.no_grad"
    )
    found = torch.autograd.grad(result.sum(), [*weights.values()], allow_unused=True)
    idle = [name for name, x in zip(weights, found, strict=True) if x is None]
    assert not idle, f"the result does not depend on these weights: {', '.join(idle)}"
