"""Compute Table 1 of Vaswani et al. (2017), and score the alignments of heads.

The layers are in `layer_kinds`, and their measured times are in `layer_timing`. All
layers map n vectors of width d to n vectors of width d. Convolutions see a position and
earlier ones, as in ByteNet. Restricted attention sees r positions: the position itself
and (r - 1) / 2 on either side.
"""

import math
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.experiments.head_alignment import require_links
from transformer.experiments.layer_kinds import (
    LAYER_KINDS,
    require_kind,
    require_odd,
    require_path,
    require_positive,
)


@dataclass(frozen=True)
class LayerCost:
    """Hold one row of Table 1 as numbers.

    Attributes:
        kind: one of `LAYER_KINDS`.
        length: tokens n in a sequence.
        multiply_adds: as `layer_cost` counts them.
        sequential: number of operations that must run one after the other.
        path: as `path_length` counts it.
    """

    kind: str
    length: int
    multiply_adds: int
    sequential: int
    path: int


def layer_cost(kind: str, length: int, d_model: int, width: int = 3) -> int:
    """Count the multiply-adds of one layer on one sequence (Table 1, first column).

    Count only products of matrices, and no biases, softmax or tanh:
    - self-attention: the scores and the weighted sum, without the four projections,
    - restricted attention: the same, as if each position had all its r keys,
    - a recurrent layer, h_i = tanh(W x_i + U h_(i-1)): both products,
    - a convolution, dilated or not: the kernel, as if each window had k positions,
    - a separable convolution: a kernel for each channel, then a d x d matrix.

    Args:
        kind: one of `LAYER_KINDS`.
        length: tokens n in the sequence.
        d_model: width d of the layer.
        width: kernel size k, or neighbourhood r. The other kinds do not use it.

    Returns:
        The number of multiply-adds, each of which is two floating-point operations.

    Raises:
        ValueError: if the kind is unknown, or a size is below 1.
    """
    require_kind(kind)
    require_positive(length=length, d_model=d_model, width=width)
    ### BEGIN SOLUTION
    convolution = width * length * d_model**2
    return {
        "self_attention": 2 * length**2 * d_model,
        "restricted_attention": 2 * width * length * d_model,
        "recurrent": 2 * length * d_model**2,
        "convolution": convolution,
        "dilated_convolution": convolution,
        "separable_convolution": width * length * d_model + length * d_model**2,
    }[kind]
    ### END SOLUTION


def path_length(kind: str, length: int, width: int = 3) -> int:
    """Count the steps between the two positions farthest apart (Table 1, last column).

    In one step a signal goes through one layer or, in the recurrent layer, from one
    state to the next. A step leads from a position to
    - any other in self-attention,
    - up to (r - 1) / 2 positions to either side in restricted attention,
    - the next position in a recurrent layer,
    - up to k - 1 positions to the right in a convolution, separable or not,
    - 0, 1 ... or k - 1 times k^l positions to the right in layer l of the dilated
      convolution, where l counts from 0.

    Args:
        kind: one of `LAYER_KINDS`.
        length: tokens n in the sequence, at least 2.
        width: kernel size k, or neighbourhood r. The other kinds do not use it.

    Returns:
        The number of layers that connect the first and the last position, or of steps
        in the recurrent layer.

    Raises:
        ValueError: if the kind is unknown, `length` is below 2, or `width` is too small
            for a step or, for a neighbourhood, even.
    """
    require_path(kind, length, width)
    ### BEGIN SOLUTION
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:  # l layers see k^l positions
            layers += 1
        return layers
    reach = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    return math.ceil((length - 1) / reach.get(kind, width - 1))
    ### END SOLUTION


def predict_layers(
    lengths: Sequence[int], d_model: int, width: int = 3
) -> list[LayerCost]:
    """Compute every row of Table 1, for several lengths.

    Args:
        lengths: tokens n in a sequence, each at least 2.
        d_model: width d of the layers.
        width: kernel size k, and neighbourhood r; odd.

    Returns:
        A row for each length and kind, ordered by length.
    """
    return [
        LayerCost(
            kind,
            length,
            multiply_adds=layer_cost(kind, length, d_model, width),
            sequential=length if kind == "recurrent" else 1,
            path=path_length(kind, length, width),
        )
        for length in lengths
        for kind in LAYER_KINDS
    ]


def restricted_mask(
    length: int, r: int, device: torch.device | str | None = None
) -> Tensor:
    """Let each position attend to itself and (r - 1) / 2 on either side (Section 4).

    Args:
        length: number of tokens t.
        r: number of positions, including itself; odd. At the ends there are fewer.
        device: where to make the mask.

    Returns:
        (1, 1, t, t), bool, True where |i - j| <= (r - 1) / 2.

    Raises:
        ValueError: if `length` is below 1, or `r` is not odd and positive.
    """
    require_positive(length=length)
    require_odd(r)
    ### BEGIN SOLUTION
    position = torch.arange(length, device=device)
    distance = (position[:, None] - position[None, :]).abs()  # (t, t)
    return (distance <= (r - 1) // 2)[None, None]
    ### END SOLUTION


def alignment_error_rate(
    predicted: Set[Hashable], sure: Set[Hashable], possible: Set[Hashable]
) -> float:
    """Compute the error rate of predicted links between words (Och & Ney, 2003).

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|). With S = P it is 1 minus the F-measure.
    To score a corpus, put the number of the sentence into each link.

    Args:
        predicted: the links A, such as (src_index, tgt_index).
        sure: the links S that must be there.
        possible: the links P that may be there, including those of S.

    Returns:
        0 if all sure links and only possible links are predicted, and at most 1.

    Raises:
        TypeError: if the links are not in sets.
        ValueError: if a sure link is not among the possible links, or there is nothing
            to compare.
    """
    require_links(predicted, sure, possible)
    ### BEGIN SOLUTION
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / (len(predicted) + len(sure))
    ### END SOLUTION
