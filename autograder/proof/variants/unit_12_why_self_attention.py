"""Wrong variants and right styles of unit 12, as students write them."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from autograder.proof.variants import right, wrong

# --- layer_cost: wrong ------------------------------------------------------------


@wrong("the orders of Table 1, without factors", diagnosed=True, names="half of")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    return {
        "self_attention": n * n * d,
        "restricted_attention": k * n * d,
        "recurrent": n * d * d,
        "convolution": k * n * d * d,
        "dilated_convolution": k * n * d * d,
        "separable_convolution": k * n * d + n * d * d,
    }[kind]


@wrong("floating-point operations", diagnosed=True, names="twice the count")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    flops = {
        "self_attention": 2 * n**2 * d,
        "restricted_attention": 2 * k * n * d,
        "recurrent": 2 * n * d**2,
        "convolution": k * n * d**2,
        "dilated_convolution": k * n * d**2,
        "separable_convolution": k * n * d + n * d**2,
    }
    return 2 * flops[kind]


@wrong("n and d exchanged", diagnosed=True)
def layer_cost(kind, length, d_model, width=3):
    d, n, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("with the projections", diagnosed=True, names="four projections")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 4 * n * d**2 + 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("restricted attention scores all pairs", diagnosed=True, names="full attention")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if "attention" in kind:
        return 2 * n**2 * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("the neighbours that exist", diagnosed=True, names="at the ends")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "restricted_attention":
        side = (k - 1) // 2
        pairs = sum(min(n, i + side + 1) - max(0, i - side) for i in range(n))
        return 2 * pairs * d
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("one product in the recurrent layer", diagnosed=True, names="two products")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("no state before the first token", diagnosed=True, names="the first state")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return n * d**2 + (n - 1) * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("a convolution of single channels", diagnosed=True, names="d in place of d²")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d


@wrong("a kernel without a width", diagnosed=True, names="without the width k")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return n * d**2


@wrong("kernels that fit in alone", diagnosed=True, names="sticks out")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * (n - k + 1) * d**2


@wrong("separable: the kernels alone", diagnosed=True, names="matrix is missing")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d
    return k * n * d**2


@wrong("separable as a convolution", diagnosed=True, names="not separable")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    return k * n * d**2


@wrong("separable: the matrix once", diagnosed=True, names="not at each position")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + d**2
    return k * n * d**2


@wrong("a width of 3 in the code", diagnosed=True, names="whatever `width` is")
def layer_cost(kind, length, d_model, width=3):
    n, d = length, d_model
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * 3 * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return 3 * n * d + n * d**2
    return 3 * n * d**2


@wrong("the cost of one position", diagnosed=True, names="for one position")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "self_attention":
        return 2 * n * d
    if kind == "restricted_attention":
        return 2 * k * d
    if kind == "recurrent":
        return 2 * d**2
    if kind == "separable_convolution":
        return k * d + d**2
    return k * d**2


@wrong("a width cut to the sentence", diagnosed=True, names="longer than the width")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, min(width, length)
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


@wrong("a text", diagnosed=True, names="other than a number")
def layer_cost(kind, length, d_model, width=3):
    return f"O({length}² · {d_model})"


# --- layer_cost: right ------------------------------------------------------------


@right("a chain of conditions")
def layer_cost(kind, length, d_model, width=3):
    if kind == "self_attention":
        scores = length * length * d_model
        weighted_sum = length * length * d_model
        return scores + weighted_sum
    if kind == "restricted_attention":
        return 2 * length * width * d_model
    if kind == "recurrent":
        return length * (d_model * d_model + d_model * d_model)
    if kind == "separable_convolution":
        return length * d_model * (width + d_model)
    return length * width * d_model**2


@right("match")
def layer_cost(kind, length, d_model, width=3):
    match kind:
        case "self_attention":
            return 2 * length**2 * d_model
        case "restricted_attention":
            return 2 * width * length * d_model
        case "recurrent":
            return 2 * length * d_model**2
        case "convolution" | "dilated_convolution":
            return width * length * d_model**2
        case "separable_convolution":
            return width * length * d_model + length * d_model**2
        case _:
            raise ValueError(kind)


@right("a table of functions")
def layer_cost(kind, length, d_model, width=3):
    counts = {
        "self_attention": lambda n, d, k: 2 * n * n * d,
        "restricted_attention": lambda n, d, k: 2 * k * n * d,
        "recurrent": lambda n, d, k: 2 * n * d * d,
        "convolution": lambda n, d, k: k * n * d * d,
        "separable_convolution": lambda n, d, k: n * d * (k + d),
    }
    counts["dilated_convolution"] = counts["convolution"]
    return counts[kind](length, d_model, width)


@right("products of matrices, counted by their sizes")
def layer_cost(kind, length, d_model, width=3):
    def product(a, b, c):
        return a * b * c

    n, d, k = length, d_model, width
    if kind == "self_attention":
        return product(n, d, n) + product(n, n, d)
    if kind == "restricted_attention":
        return n * (product(1, d, k) + product(1, k, d))
    if kind == "recurrent":
        return 2 * n * product(1, d, d)
    if kind == "separable_convolution":
        return n * (d * product(1, k, 1) + product(1, d, d))
    return n * product(1, k * d, d)


@right("float numbers")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = float(length), float(d_model), float(width)
    table = [
        ("self_attention", 2 * n**2 * d),
        ("restricted_attention", 2 * k * n * d),
        ("recurrent", 2 * n * d**2),
        ("convolution", k * n * d**2),
        ("dilated_convolution", k * n * d**2),
        ("separable_convolution", k * n * d + n * d**2),
    ]
    return dict(table)[kind]


@right("math.prod")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = length, d_model, width
    if kind == "separable_convolution":
        return math.prod([k, n, d]) + math.prod([n, d, d])
    factors = {
        "self_attention": [2, n, n, d],
        "restricted_attention": [2, k, n, d],
        "recurrent": [2, n, d, d],
    }
    return math.prod(factors.get(kind, [k, n, d, d]))


@right("a tensor of one number")
def layer_cost(kind, length, d_model, width=3):
    n, d, k = torch.tensor(length), torch.tensor(d_model), torch.tensor(width)
    if kind == "self_attention":
        return 2 * n**2 * d
    if kind == "restricted_attention":
        return 2 * k * n * d
    if kind == "recurrent":
        return 2 * n * d**2
    if kind == "separable_convolution":
        return k * n * d + n * d**2
    return k * n * d**2


# --- path_length: wrong -----------------------------------------------------------


@wrong("recurrent: n positions", diagnosed=True, names="the number of positions: from")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("recurrent: one layer", diagnosed=True, names="the layer is one")
def path_length(kind, length, width=3):
    if kind in ("self_attention", "recurrent"):
        return 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("the orders of Table 1, rounded up", diagnosed=True, names="rounded up")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil(length / width)


@wrong("restricted: both sides", diagnosed=True, names="both sides together")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("convolution: both sides", diagnosed=True, names="saw both sides")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / ((width - 1) / 2))


@wrong("rounded down", diagnosed=True, names="rounded down")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return (length - 1) // ((width - 1) // 2)
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return (length - 1) // (width - 1)


@wrong("not rounded", diagnosed=True, names="without rounding")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return (length - 1) / ((width - 1) // 2)
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return (length - 1) / (width - 1)


@wrong("one step too many", diagnosed=True, names="the way is n - 1")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return (length - 1) // ((width - 1) // 2) + 1
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return (length - 1) // (width - 1) + 1


@wrong("n positions instead of n - 1", diagnosed=True, names="the way is n - 1")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil(length / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil(length / (width - 1))


@wrong("steps of k positions", diagnosed=True)
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / width)


@wrong("not dilated", diagnosed=True)
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    return math.ceil((length - 1) / (width - 1))


@wrong(
    "a logarithm in floating point",
    diagnosed=True,
    names="inexact logarithm",
)
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        return math.ceil(math.log(length, width))
    return math.ceil((length - 1) / (width - 1))


@wrong("the logarithm rounded down", diagnosed=True, names="logarithm")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        return math.floor(math.log(length) / math.log(width))
    return math.ceil((length - 1) / (width - 1))


@wrong("the logarithm to the base 2", diagnosed=True)
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        return math.ceil(math.log2(length))
    return math.ceil((length - 1) / (width - 1))


@wrong("`<=` where `<` is meant", diagnosed=True, names="powers of k")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers <= length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("the dilation doubles", diagnosed=True, names="a dilation of 2^l")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers, seen = 0, 1
        while seen < length:
            seen += (width - 1) * 2**layers
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("self-attention walks too", diagnosed=True, names="positions between the two")
def path_length(kind, length, width=3):
    if kind in ("self_attention", "recurrent"):
        return length - 1
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("a width of 3 in the code", diagnosed=True, names="whatever `width` is")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind in ("recurrent", "restricted_attention"):
        return length - 1
    if kind == "dilated_convolution":
        layers = 1
        while 3**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / 2)


@wrong("a kernel of 2 never arrives", diagnosed=True, names="wider than 2")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if width < 3:
        raise ValueError("the kernel is too small")
    if kind == "restricted_attention":
        return math.ceil((length - 1) / ((width - 1) // 2))
    if kind == "dilated_convolution":
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
    return math.ceil((length - 1) / (width - 1))


@wrong("separable: steps of k, and a logarithm", diagnosed=True, names="steps of k")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        return math.ceil(math.log(length, width))
    step = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    step |= {"convolution": width - 1, "separable_convolution": width}
    return math.ceil((length - 1) / step[kind])


# --- path_length: right -----------------------------------------------------------


@right("rounding up with whole numbers")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    if kind == "dilated_convolution":
        layers, seen = 0, 1
        while seen < length:
            layers, seen = layers + 1, seen * width
        return layers
    step = (width - 1) // 2 if kind == "restricted_attention" else width - 1
    return -(-(length - 1) // step)


@right("walking there")
def path_length(kind, length, width=3):
    place, steps = 0, 0
    while place < length - 1:
        if kind == "self_attention":
            place = length - 1
        elif kind == "recurrent":
            place += 1
        elif kind == "restricted_attention":
            place += (width - 1) // 2
        elif kind == "dilated_convolution":
            place += (width - 1) * width**steps
        else:
            place += width - 1
        steps += 1
    return steps


@right("match")
def path_length(kind, length, width=3):
    match kind:
        case "self_attention":
            return 1
        case "recurrent":
            return length - 1
        case "restricted_attention":
            return math.ceil((length - 1) / ((width - 1) / 2))
        case "convolution" | "separable_convolution":
            return math.ceil((length - 1) / (width - 1))
        case _:
            powers = (layers for layers in itertools.count(1))
            return next(layers for layers in powers if width**layers >= length)


@right("a rounded logarithm, then corrected")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        layers = max(1, round(math.log(length, width)))
        return layers if width**layers >= length else layers + 1
    reach = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    return math.ceil((length - 1) / reach.get(kind, width - 1))


@right("recursion")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        if length <= width:
            return 1
        return 1 + path_length(kind, math.ceil(length / width), width)
    if kind == "recurrent":
        return length - 1
    step = (width - 1) // 2 if kind == "restricted_attention" else width - 1
    steps, rest = divmod(length - 1, step)
    return steps + (1 if rest else 0)


@right("len of a range")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        seen = [width]
        while seen[-1] < length:
            seen.append(seen[-1] * width)
        return len(seen)
    steps = {"recurrent": 1, "restricted_attention": width // 2}
    return len(range(0, length - 1, steps.get(kind, width - 1)))


@right("positions that are reached, as a set")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "recurrent":
        return length - 1
    reached, layers = {0}, 0
    while length - 1 not in reached:
        if kind == "restricted_attention":
            jumps = range(-(width // 2), width // 2 + 1)
        elif kind == "dilated_convolution":
            jumps = [tap * width**layers for tap in range(width)]
        else:
            jumps = range(width)
        reached = {i + j for i in reached for j in jumps if 0 <= i + j < length}
        layers += 1
        if kind == "dilated_convolution" and len(reached) > 10**5:
            return layers + path_length(kind, -(-length // len(reached)), width)
        if kind == "dilated_convolution" and length > 10**5:
            count, seen = 0, 1
            while seen < length:
                count, seen = count + 1, seen * width
            return count
    return layers


@right("a tensor of one number")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return torch.tensor(1)
    if kind == "dilated_convolution":
        layers = torch.tensor(1)
        while width**layers < length:
            layers += 1
        return layers
    steps = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    return torch.tensor((length - 1) / steps.get(kind, width - 1)).ceil()


# --- restricted_mask: wrong -------------------------------------------------------


@wrong("r to either side", diagnosed=True, names="r positions to either")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() <= r)[None, None]


@wrong("fewer than r to either side", diagnosed=True, names="r - 1 positions")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() < r)[None, None]


@wrong("too narrow by one", diagnosed=True, names="too narrow")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() < (r - 1) // 2)[None, None]


@wrong("too wide by one", diagnosed=True, names="too wide")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() <= (r + 1) // 2)[None, None]


@wrong("the opposite", diagnosed=True)
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() > (r - 1) // 2)[None, None]


@wrong("without the token itself", diagnosed=True, names="the token itself")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = (position[:, None] - position).abs()
    return ((distance <= (r - 1) // 2) & (distance > 0))[None, None]


@wrong("the last r positions", diagnosed=True, names="the last r")
def restricted_mask(length, r, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(1 - r)


@wrong("the next r positions", diagnosed=True, names="the next r")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    ahead = position - position[:, None]
    return ((ahead >= 0) & (ahead < r))[None, None]


@wrong("cut off above the diagonal", diagnosed=True, names="above the diagonal")
def restricted_mask(length, r, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(-(r // 2))


@wrong("without the upper edge", diagnosed=True, names="its upper edge")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        rows[i, max(0, i - side) : i + side] = True
    return rows[None, None]


@wrong("blocks", diagnosed=True, names="blocks of r tokens")
def restricted_mask(length, r, device=None):
    block = torch.arange(length, device=device) // r
    return (block[:, None] == block)[None, None]


@wrong("r keys at the ends too", diagnosed=True, names="shifted at the ends")
def restricted_mask(length, r, device=None):
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        start = min(max(0, i - (r - 1) // 2), max(0, length - r))
        rows[i, start : start + r] = True
    return rows[None, None]


@wrong("a ring", diagnosed=True, names="on a ring")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = (position[:, None] - position).abs()
    distance = torch.minimum(distance, length - distance)
    return (distance <= (r - 1) // 2)[None, None]


@wrong("negative starts of slices", diagnosed=True, names="negative start")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        rows[i, i - side : i + side + 1] = True
    return rows[None, None]


@wrong("(t, t)", diagnosed=True)
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    return (position[:, None] - position).abs() <= (r - 1) // 2


@wrong("zeros and ones", diagnosed=True, names="numbers where bools")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    near = (position[:, None] - position).abs() <= (r - 1) // 2
    return near.int()[None, None]


@wrong("made on the default device", diagnosed=True, names="default device")
def restricted_mask(length, r, device=None):
    position = torch.arange(length)
    return ((position[:, None] - position).abs() <= (r - 1) // 2)[None, None]


@wrong("hides nothing", diagnosed=True, names="nothing, or everything")
def restricted_mask(length, r, device=None):
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)


@wrong("shows nothing", diagnosed=True, names="nothing, or everything")
def restricted_mask(length, r, device=None):
    return torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)


@wrong("needs a sentence longer than r", diagnosed=True, names="1 < r < t")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    if r > length:
        raise ValueError("the sentence is too short")
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(side) & ones.triu(-side)


@wrong("all, where r is as long as the sentence", diagnosed=True, names="1 < r < t")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    side = length if r >= length else (r - 1) // 2
    return ((position[:, None] - position).abs() <= side)[None, None]


# --- restricted_mask: right -------------------------------------------------------


@right("two triangles")
def restricted_mask(length, r, device=None):
    side = r // 2
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(side) & ones.triu(-side)


@right("a loop over the queries")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)
    for i in range(length):
        mask[..., i, max(0, i - side) : i + side + 1] = True
    return mask


@right("a list of lists")
def restricted_mask(length, r, device=None):
    places = range(length)
    rows = [[2 * abs(i - j) < r for j in places] for i in places]
    return torch.tensor(rows, device=device).view(1, 1, length, length)


@right("twice the distance")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = torch.abs(position.unsqueeze(0) - position.unsqueeze(1))
    return (2 * distance < r).unsqueeze(0).unsqueeze(0)


@right("a division by 2 that is not rounded")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    near = (position - position[:, None]).abs() <= (r - 1) / 2
    return near.expand(1, 1, -1, -1)


@right("a sum of diagonals")
def restricted_mask(length, r, device=None):
    mask = torch.zeros(length, length, device=device)
    for offset in range(-(r // 2), r // 2 + 1):
        count = length - abs(offset)
        if count > 0:
            mask += torch.diag(torch.ones(count, device=device), offset)
    return mask.bool()[None, None]


@right("cdist")
def restricted_mask(length, r, device=None):
    place = torch.arange(length, dtype=torch.float32, device=device)[:, None]
    return (torch.cdist(place, place, p=1) <= r // 2)[None, None]


@right("numpy, moved to the device")
def restricted_mask(length, r, device=None):
    band = np.tri(length, k=r // 2) - np.tri(length, k=-(r // 2) - 1)
    mask = torch.from_numpy(band.astype(bool))[None, None]
    return mask if device is None else mask.to(device)


@right("an identity matrix, pooled")
def restricted_mask(length, r, device=None):
    identity = torch.eye(length, device=device)[None, None]
    return F.max_pool2d(identity, (1, r), stride=1, padding=(0, r // 2)) > 0


# --- alignment_error_rate: wrong --------------------------------------------------


@wrong("how good, not how bad", diagnosed=True, names="how good")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return hits / (len(predicted) + len(sure))


@wrong("per cent", diagnosed=True, names="in per cent")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return 100 * (1 - hits / (len(predicted) + len(sure)))


@wrong("1 - precision", diagnosed=True, names="are not possible")
def alignment_error_rate(predicted, sure, possible):
    return 1 - len(predicted & possible) / len(predicted)


@wrong("1 - recall", diagnosed=True, names="were not found")
def alignment_error_rate(predicted, sure, possible):
    return 1 - len(predicted & sure) / len(sure)


@wrong("S and P exchanged", diagnosed=True)
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / (len(predicted) + len(possible))


@wrong("no possible links", diagnosed=True, names="without the possible links")
def alignment_error_rate(predicted, sure, possible):
    return 1 - 2 * len(predicted & sure) / (len(predicted) + len(sure))


@wrong("possible links twice", diagnosed=True, names="2 |A ∩ P| above")
def alignment_error_rate(predicted, sure, possible):
    return 1 - 2 * len(predicted & possible) / (len(predicted) + len(sure))


@wrong("P without S", diagnosed=True)
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & (possible - sure))
    return 1 - hits / (len(predicted) + len(sure))


@wrong("|A ∩ S| alone", diagnosed=True, names="|A ∩ S| alone")
def alignment_error_rate(predicted, sure, possible):
    return 1 - len(predicted & sure) / (len(predicted) + len(sure))


@wrong("divided by the union", diagnosed=True, names="in A or in S")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / len(predicted | sure)


@wrong("Jaccard's distance", diagnosed=True, names="Jaccard")
def alignment_error_rate(predicted, sure, possible):
    return 1 - len(predicted & sure) / len(predicted | sure)


@wrong("brackets forgotten", diagnosed=True, names="brackets missing")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / len(predicted) + len(sure)


@wrong("an F-measure of both", diagnosed=True, names="harmonic mean")
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / len(predicted)
    recall = len(predicted & sure) / len(sure)
    return 1 - 2 * precision * recall / (precision + recall)


@wrong("unions", diagnosed=True, names="unions in place of")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted | sure) + len(predicted | possible)
    return 1 - hits / (len(predicted) + len(sure))


@wrong("whole numbers", diagnosed=True, names="`//`")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits // (len(predicted) + len(sure))


@wrong("changes its input", diagnosed=True, names="changed in place")
def alignment_error_rate(predicted, sure, possible):
    total = len(predicted) + len(sure)
    hits = len(predicted & possible)
    predicted &= sure
    return 1 - (hits + len(predicted)) / total


@wrong(
    "0 where nothing is predicted", diagnosed=True, names="of no links none is right"
)
def alignment_error_rate(predicted, sure, possible):
    if not predicted:
        return 0.0
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / (len(predicted) + len(sure))


@wrong("1 where nothing is sure", diagnosed=True, names="where none is sure")
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / max(1, len(predicted))
    if not sure or not predicted:
        return 1.0
    recall = len(predicted & sure) / len(sure)
    found = precision * len(predicted) + recall * len(sure)
    return 1 - found / (len(predicted) + len(sure))


@wrong("links of two numbers", diagnosed=True, names="links of two numbers")
def alignment_error_rate(predicted, sure, possible):
    hits = sum((i, j) in sure for i, j in predicted)
    hits += sum((i, j) in possible for i, j in predicted)
    return 1 - hits / (len(predicted) + len(sure))


@wrong("precision first", diagnosed=True, names="the number of predicted links")
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / len(predicted)
    hits = precision * len(predicted) + len(predicted & sure)
    return 1 - hits / (len(predicted) + len(sure))


@wrong("recall first", diagnosed=True, names="the number of sure links")
def alignment_error_rate(predicted, sure, possible):
    recall = len(predicted & sure) / len(sure)
    hits = len(predicted & possible) + recall * len(sure)
    return 1 - hits / (len(predicted) + len(sure))


# --- alignment_error_rate: right --------------------------------------------------


@right("intersection as a method")
def alignment_error_rate(predicted, sure, possible):
    a_s = predicted.intersection(sure)
    a_p = predicted.intersection(possible)
    return 1 - (len(a_s) + len(a_p)) / (len(predicted) + len(sure))


@right("a loop over the links")
def alignment_error_rate(predicted, sure, possible):
    hits = 0
    for link in predicted:
        if link in sure:
            hits += 1
        if link in possible:
            hits += 1
    return 1.0 - hits / (len(predicted) + len(sure))


@right("sums of bools")
def alignment_error_rate(predicted, sure, possible):
    hits = sum(link in sure for link in predicted)
    hits += sum(link in possible for link in predicted)
    total = len(predicted) + len(sure)
    return (total - hits) / total


@right("fractions")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return float(1 - Fraction(hits, len(predicted) + len(sure)))


@right("errors counted, not hits")
def alignment_error_rate(predicted, sure, possible):
    missed = len(sure - predicted)
    impossible = len(predicted - possible)
    return (missed + impossible) / (len(predicted) + len(sure))


@right("lists and a comprehension")
def alignment_error_rate(predicted, sure, possible):
    a = list(predicted)
    found = [link for link in a if link in sure] + [x for x in a if x in possible]
    return 1 - len(found) / (len(a) + len(list(sure)))


@right("a tensor of one number")
def alignment_error_rate(predicted, sure, possible):
    hits = torch.tensor(float(len(predicted & sure) + len(predicted & possible)))
    return 1 - hits / (len(predicted) + len(sure))


@right("reduce")
def alignment_error_rate(predicted, sure, possible):
    def count(total, link):
        return total + (link in sure) + (link in possible)

    hits = functools.reduce(count, predicted, 0)
    return 1 - hits / (len(predicted) + len(sure))
