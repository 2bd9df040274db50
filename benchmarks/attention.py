"""Compare the speed of the course's attention with PyTorch's math kernel.

    python benchmarks/attention.py [--rounds 60] [--threads 1]

Time the forward and backward pass at (b, h, t, s, d_k) = (32, 8, 64, 64, 32), with a
mask that hides padding. The results must agree.
"""

import argparse
from pathlib import Path

import torch
from timing import Ratio, alternate
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer.attention import scaled_dot_product_attention

B, H, T, S, D_K = 32, 8, 64, 64, 32


def measure(rounds: int = 60) -> Ratio:
    """Time both attentions in alternation.

    Raises:
        SystemExit: if their results differ.
    """
    generator = torch.Generator().manual_seed(0)
    shapes = [(B, H, T, D_K), (B, H, S, D_K), (B, H, S, D_K)]
    q, k, v = (
        torch.randn(shape, generator=generator).requires_grad_() for shape in shapes
    )
    lengths = torch.randint(S // 2, S + 1, (B, 1, 1, 1), generator=generator)
    mask = torch.arange(S) < lengths
    upstream = torch.randn(shapes[0], generator=generator)

    def ours() -> list[Tensor]:
        return finish(scaled_dot_product_attention(q, k, v, mask)[0])

    def theirs() -> list[Tensor]:
        with sdpa_kernel(SDPBackend.MATH):
            return finish(F.scaled_dot_product_attention(q, k, v, mask))

    def finish(output: Tensor) -> list[Tensor]:
        return [output, *torch.autograd.grad(output, (q, k, v), upstream)]

    for mine, peer in zip(ours(), theirs(), strict=True):
        if not torch.allclose(mine, peer, atol=1e-4):
            raise SystemExit("the two attentions disagree")
    return alternate(ours, theirs, rounds, warm_up=5)


def main() -> None:
    """Measure both attentions, and print the times and their ratio."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = measure(options.rounds)
    print(f"course {found.ours * 1e3:.2f} ms, math path {found.theirs * 1e3:.2f} ms")
    print(
        f"course / math path: {1 / found.middle:.3f} "
        f"(quartiles {1 / found.high:.3f} to {1 / found.low:.3f})"
    )


if __name__ == "__main__":
    main()
