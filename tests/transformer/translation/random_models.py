"""Small random models and sources for the tests of searches."""

import pytest
import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.translation.beams import EOS_ID

PAD = 1
VARIANTS = {
    "post_norm": {},
    "pre_norm": {"norm_first": True},
    "conv": {"feed_forward": "conv"},
    "sinusoidal": {"positions": "sinusoidal", "tie": "target"},
    "no_positions": {"positions": "none"},
}
variants = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())


def make_model(seed: int = 0, tgt_vocab_size: int = 13, **changes) -> Transformer:
    """Make a small random model whose words have different probabilities."""
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "max_len": 12}
    config = TransformerConfig(17, tgt_vocab_size, **{**sizes, **changes})
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(1.7)
    return model


def end_after_about(model: Transformer, bias: float) -> Transformer:
    """Make the end of the sentence likelier, so that lengths in a batch differ."""
    with torch.no_grad():
        model.projection.bias[EOS_ID] += bias
    return model


def make_sources() -> Tensor:
    generator = torch.Generator().manual_seed(1)
    src = torch.randint(4, 17, (6, 7), generator=generator)
    for row, length in enumerate([7, 5, 3, 1, 6, 2]):
        src[row, length:] = PAD
    return src


def strip_padding(row: Tensor) -> list[int]:
    words = row.tolist()
    return words[: words.index(EOS_ID) + 1] if EOS_ID in words else words
