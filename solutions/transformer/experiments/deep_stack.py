"""The experiments of unit 06: gradients, tokens and training in deep stacks.

The module imports no exercise, because the layers are passed in as arguments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

N_BITS = 6


@dataclass(frozen=True)
class ParitySettings:
    """Hold the training settings of a stack.

    Attributes:
        steps: number of batches.
        warmup: steps over which the learning rate rises; 0 = full rate from the first
            step.
        learning_rate: the rate after the warm-up.
        seed: seed of the batches.
    """

    steps: int = 250
    warmup: int = 0
    learning_rate: float = 2e-3
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        return self.learning_rate * min(1.0, (step + 1) / max(1, self.warmup))


class ParityModel(nn.Module):
    """Embed each token's bits, apply a stack, and classify their number as odd or even.

    Args:
        layers: maps from (b, t, d_model) to the same shape.
        d_model: width.
        last_norm: whether a LayerNorm follows the stack, as pre-norm needs it.
    """

    def __init__(
        self, layers: Sequence[nn.Module], d_model: int, last_norm: bool = False
    ) -> None:
        """Make the input and output layers, and initialise the stack."""
        super().__init__()
        self.widen = nn.Linear(N_BITS, d_model)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model) if last_norm else nn.Identity()
        self.answer = nn.Linear(d_model, 2)
        draw_weights(layers)

    def forward(self, bits: Tensor) -> Tensor:
        """Map bits (b, t, 6), each -1 or 1, to logits (b, t, 2)."""
        x = self.widen(bits)
        for layer in self.layers:
            x = layer(x)
        return self.answer(self.norm(x))


def train_parity(
    model: nn.Module, settings: ParitySettings | None = None
) -> list[float]:
    """Train a model to tell whether each token has an odd number of positive bits.

    Args:
        model: maps bits (b, t, 6) to logits (b, t, 2), and is changed in place.
        settings: the settings, or None for the defaults.

    Returns:
        The loss of each step, in nats. Random guessing has the loss ln 2 = 0.69.
    """
    settings = settings or ParitySettings()
    generator = torch.Generator().manual_seed(settings.seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    losses = []
    for step in range(settings.steps):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(step)
        bits = torch.randint(2, (32, 8, N_BITS), generator=generator)
        logits = model(2.0 * bits - 1.0)
        odd = bits.sum(dim=-1) % 2
        loss = F.cross_entropy(logits.flatten(0, 1), odd.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def draw_weights(layers: Sequence[nn.Module]) -> None:
    """Initialise all matrices of the layers again, with Xavier's method."""
    for layer in layers:
        for parameter in layer.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)


def gradient_norms(layers: Sequence[nn.Module], x: Tensor) -> list[float]:
    """Send a random gradient back through a stack, and measure it in each layer.

    Args:
        layers: maps from (b, t, d_model) to the same shape.
        x: (b, t, d_model).

    Returns:
        The norm of the gradient of each layer's parameters, in the order of the layers.
            The gradient at the stack's output has norm 1.
    """
    for layer in layers:
        layer.zero_grad(set_to_none=True)
        x = layer(x)
    upstream = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    x.backward(upstream / upstream.norm())
    return [gradient_norm(layer) for layer in layers]


def gradient_norm(layer: nn.Module) -> float:
    """Return the norm of the gradient of all parameters of a layer."""
    gradients = [p.grad.norm() for p in layer.parameters() if p.grad is not None]
    return torch.stack(gradients).norm().item()


def likeness(vectors: Tensor) -> float:
    """Measure how similar the tokens of a sentence are.

    Args:
        vectors: (..., s, d_model), without padding; s of at least 2.

    Returns:
        The mean cosine of the angle between two different tokens of a sentence: near 0
        for unrelated vectors, 1 if all tokens of a sentence point the same way.
    """
    unit = F.normalize(vectors.detach(), dim=-1)
    cosines = unit @ unit.transpose(-2, -1)  # (..., s, s), with each token itself
    n, s = vectors.shape[:-2].numel(), vectors.size(-2)
    return ((cosines.sum() - n * s) / (n * s * (s - 1))).item()
