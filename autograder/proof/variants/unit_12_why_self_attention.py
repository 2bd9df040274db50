"""Wrong variants and right styles of unit 12, as students write them."""

import ast
import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from autograder.proof.variants import answer, body, drop, insert, swap


def keep(key):
    """Let an answer cache its results by a key that omits an argument."""

    def change(source):
        (definition,) = ast.parse(source).body
        lines = source.splitlines()
        start = definition.body[0].lineno - 1
        kept = f'{definition.name}.__dict__.setdefault("kept", {{}})'
        begin = [f"    kept, key = {kept}, {key}", "    if key not in kept:"]
        inner = [
            "        def result():",
            *(f"        {line}" for line in lines[start:]),
        ]
        end = ["        kept[key] = result()", "    return kept[key]\n"]
        return "\n".join([*lines[:start], *begin, *inner, *end])

    return change


# --- layer_cost -------------------------------------------------------------------

layer_cost = answer(
    "transformer.experiments.complexity.layer_cost",
    body("""
        n, d, k = length, d_model, width
        if kind == "self_attention":
            return 2 * n**2 * d
        if kind == "restricted_attention":
            return 2 * k * n * d
        if kind == "recurrent":
            return 2 * n * d**2
        if kind == "separable_convolution":
            return k * n * d + n * d**2
        return k * n * d**2
        """),
)
layer_cost.with_faults("state default")


@layer_cost.wrong("the orders of Table 1 without factors", names="half of")
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


@layer_cost.wrong("a count of floating-point operations", names="twice the count")
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


layer_cost.wrong(
    "n instead of 2",
    swap("return 2 * n**2 * d", "return n**3 * d"),
    diagnosed=False,
)
layer_cost.wrong("n and d swapped", swap("n, d", "d, n"))
layer_cost.wrong(
    "a count with the projections",
    swap("2 * n**2", "4 * n * d**2 + 2 * n**2"),
    names="four projections",
)
layer_cost.wrong(
    "scores for all pairs in restricted attention",
    swap('kind == "self_attention"', '"attention" in kind'),
    drop("""
        if kind == "restricted_attention":
            return 2 * k * n * d
        """),
    names="full attention",
)
layer_cost.wrong(
    "only the existing neighbours",
    swap(
        "return 2 * k * n * d",
        """
        side = (k - 1) // 2
        pairs = sum(min(n, i + side + 1) - max(0, i - side) for i in range(n))
        return 2 * pairs * d
        """,
    ),
    names="at the ends",
)
layer_cost.wrong(
    "only one product in the recurrent layer",
    swap("2 * n * d", "n * d"),
    names="two products",
)
layer_cost.wrong(
    "no state before the first token",
    swap("2 * n * d", "n * d**2 + (n - 1) * d"),
    names="the first state",
)
layer_cost.wrong(
    "a convolution of separate channels",
    swap("k * n * d**2", "k * n * d"),
    names="d instead of d²",
)
layer_cost.wrong(
    "a kernel without a width",
    swap("k * n * d**2", "n * d**2"),
    names="without the width k",
)
layer_cost.wrong(
    "only the kernels that fit into the sentence",
    swap("k * n * d**2", "k * (n - k + 1) * d**2"),
    names="extends past",
)
layer_cost.wrong(
    "a separable convolution with only the kernels",
    swap("d + n * d**2", "d"),
    names="matrix is missing",
)
layer_cost.wrong(
    "a separable convolution counted as a full one",
    drop("""
        if kind == "separable_convolution":
            return k * n * d + n * d**2
        """),
    names="not separable",
)
layer_cost.wrong(
    "a separable convolution with the matrix only once",
    swap("+ n * d", "+ d"),
    names="not at each position",
)
layer_cost.wrong(
    "a hard-coded width of 3",
    swap("d, k = length, d_model, width", "d = length, d_model"),
    swap("2 * k", "2 * 3"),
    swap("k * n * d + n", "3 * n * d + n"),
    swap("k * n * d**2", "3 * n * d**2"),
    names="regardless of `width`",
)


@layer_cost.wrong("the cost of one position", names="for one position")
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


layer_cost.wrong(
    "a width limited to the sentence length",
    swap("d_model, width", "d_model, min(width, length)"),
    names="longer than the width",
)
layer_cost.wrong(
    "a string", body('return f"O({length}² · {d_model})"'), names="other than a number"
)


@layer_cost.right("a chain of conditions")
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


@layer_cost.right("a match statement")
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


@layer_cost.right("a table of functions")
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


@layer_cost.right("products of matrices counted from their sizes")
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


@layer_cost.right("floating-point numbers")
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


@layer_cost.right("math.prod")
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


layer_cost.right(
    "a tensor with one number",
    swap(
        "length, d_model, width",
        "torch.tensor(length), torch.tensor(d_model), torch.tensor(width)",
    ),
)

# --- path_length ------------------------------------------------------------------

path_length = answer(
    "transformer.experiments.complexity.path_length",
    body("""
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
        return math.ceil((length - 1) / (width - 1))
        """),
)
path_length.with_faults("state default")
path_length.wrong(
    "n steps in the recurrent layer",
    swap("return length - 1", "return length"),
    names="one step shorter",
)
path_length.wrong(
    "one step in the recurrent layer",
    swap("return length - 1", "return 1"),
    names="it is one layer",
)
path_length.wrong(
    "the orders of Table 1 rounded up",
    drop("""
        if kind == "restricted_attention":
            return math.ceil((length - 1) / ((width - 1) // 2))
        """),
    swap("(length - 1) / (width - 1)", "length / width"),
    names="rounded up",
)
path_length.wrong(
    "both sides counted in restricted attention",
    drop("""
        if kind == "restricted_attention":
            return math.ceil((length - 1) / ((width - 1) // 2))
        """),
    names="both sides together",
)
path_length.wrong(
    "a convolution that covers both sides",
    drop("""
        if kind == "restricted_attention":
            return math.ceil((length - 1) / ((width - 1) // 2))
        """),
    swap("/ (width - 1)", "/ ((width - 1) / 2)"),
    names="covered both sides",
)
path_length.wrong(
    "the result rounded down",
    swap(
        "math.ceil((length - 1) / ((width - 1) // 2))",
        "(length - 1) // ((width - 1) // 2)",
    ),
    swap("math.ceil((length - 1) / (width - 1))", "(length - 1) // (width - 1)"),
)
path_length.wrong(
    "a result that is not rounded",
    swap(
        "math.ceil((length - 1) / ((width - 1) // 2))",
        "(length - 1) / ((width - 1) // 2)",
    ),
    swap("math.ceil((length - 1) / (width - 1))", "(length - 1) / (width - 1)"),
    names="without rounding",
)
path_length.wrong(
    "one step too many",
    swap(
        "math.ceil((length - 1) / ((width - 1) // 2))",
        "(length - 1) // ((width - 1) // 2) + 1",
    ),
    swap("math.ceil((length - 1) / (width - 1))", "(length - 1) // (width - 1) + 1"),
    names="the path is n - 1",
)
path_length.wrong(
    "n positions instead of n - 1",
    swap("(length - 1) / ((width - 1) // 2)", "length / ((width - 1) // 2)"),
    swap("(length - 1) / (width - 1)", "length / (width - 1)"),
    names="the path is n - 1",
)
path_length.wrong("steps of k positions", swap("/ (width - 1)", "/ width"))
path_length.wrong(
    "not dilated",
    drop("""
        if kind == "dilated_convolution":
            layers = 1
            while width**layers < length:
                layers += 1
            return layers
        """),
)
path_length.wrong(
    "a logarithm in floating point",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.ceil(math.log(length, width))",
    ),
    names="inexact logarithm",
)
path_length.wrong(
    "a quotient of logarithms to the base 2",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.ceil(math.log2(length) / math.log2(width))",
    ),
    diagnosed=False,
)
path_length.wrong(
    "a quotient of logarithms to the base 10",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.ceil(math.log10(length) / math.log10(width))",
    ),
    names="inexact logarithm",
)
path_length.wrong(
    "the logarithm rounded down",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.floor(math.log(length) / math.log(width))",
    ),
    names="logarithm",
)
path_length.wrong(
    "the logarithm to the base 2",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.ceil(math.log2(length))",
    ),
)
path_length.wrong(
    "`<=` instead of `<`", swap("< length", "<= length"), names="powers of k"
)
path_length.wrong(
    "a dilation that doubles",
    swap("layers = 1", "layers, seen = 0, 1"),
    swap("width**layers", "seen"),
    insert("seen += (width - 1) * 2**layers", before="layers +="),
    names="a dilation of 2^l",
)
path_length.wrong(
    "one step per position in self-attention too",
    swap(
        """
        == "self_attention":
            return 1
        if kind == "recurrent"
        """,
        'in ("self_attention", "recurrent")',
    ),
    names="distance between the two",
)
path_length.wrong(
    "a hard-coded width of 3",
    swap('== "recurrent"', 'in ("recurrent", "restricted_attention")'),
    drop("""
        if kind == "restricted_attention":
            return math.ceil((length - 1) / ((width - 1) // 2))
        """),
    swap("width**", "3**"),
    swap("/ (width - 1)", "/ 2"),
    names="regardless of `width`",
)
path_length.wrong(
    "an error for a kernel of 2",
    insert(
        """
        if width < 3:
            raise ValueError("the kernel is too small")
        """,
        before='if kind == "restricted_attention"',
    ),
    diagnosed=False,
)


@path_length.wrong(
    "steps of k in a separable convolution, and a logarithm", names="steps of k"
)
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        return math.ceil(math.log(length, width))
    step = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    step |= {"convolution": width - 1, "separable_convolution": width}
    return math.ceil((length - 1) / step[kind])


@path_length.right("rounding up with whole numbers")
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


@path_length.right("a loop over the steps")
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


@path_length.right("a match statement")
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


@path_length.right("a rounded logarithm that is corrected")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        layers = max(1, round(math.log(length, width)))
        return layers if width**layers >= length else layers + 1
    reach = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    return math.ceil((length - 1) / reach.get(kind, width - 1))


@path_length.right("recursion")
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


@path_length.right("the length of a range")
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


@path_length.right("a set of the reached positions")
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


@path_length.right("a tensor with one number")
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


# --- restricted_mask --------------------------------------------------------------

restricted_mask = answer(
    "transformer.experiments.complexity.restricted_mask",
    body("""
        position = torch.arange(length, device=device)
        return ((position[:, None] - position).abs() <= (r - 1) // 2)[None, None]
        """),
)
restricted_mask.with_faults("state default")
restricted_mask.wrong(
    "r positions on each side", swap("(r - 1) // 2", "r"), names="r positions on each"
)
restricted_mask.wrong(
    "fewer than r positions on each side",
    swap("<= (r - 1) // 2", "< r"),
    names="r - 1 positions",
)
restricted_mask.wrong(
    "a band that is one position too narrow", swap("() <=", "() <"), names="too narrow"
)
restricted_mask.wrong(
    "a band that is one position too wide", swap("- 1", "+ 1"), names="too wide"
)
restricted_mask.wrong("the opposite", swap("() <=", "() >"))


@restricted_mask.wrong("a band without the token itself", names="the token itself")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = (position[:, None] - position).abs()
    return ((distance <= (r - 1) // 2) & (distance > 0))[None, None]


@restricted_mask.wrong("the last r positions", names="the last r")
def restricted_mask(length, r, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(1 - r)


@restricted_mask.wrong("the next r positions", names="the next r")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    ahead = position - position[:, None]
    return ((ahead >= 0) & (ahead < r))[None, None]


@restricted_mask.wrong(
    "a band that is cut off above the diagonal", names="above the diagonal"
)
def restricted_mask(length, r, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(-(r // 2))


@restricted_mask.wrong("a band without its upper edge", names="its upper edge")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        rows[i, max(0, i - side) : i + side] = True
    return rows[None, None]


@restricted_mask.wrong("blocks of tokens", names="blocks of r tokens")
def restricted_mask(length, r, device=None):
    block = torch.arange(length, device=device) // r
    return (block[:, None] == block)[None, None]


@restricted_mask.wrong(
    "r keys at the ends of the sentence too", names="shifted at the ends"
)
def restricted_mask(length, r, device=None):
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        start = min(max(0, i - (r - 1) // 2), max(0, length - r))
        rows[i, start : start + r] = True
    return rows[None, None]


@restricted_mask.wrong("a band on a ring", names="on a ring")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = (position[:, None] - position).abs()
    distance = torch.minimum(distance, length - distance)
    return (distance <= (r - 1) // 2)[None, None]


@restricted_mask.wrong("slices with a negative start", names="negative start")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    rows = torch.zeros(length, length, dtype=torch.bool, device=device)
    for i in range(length):
        rows[i, i - side : i + side + 1] = True
    return rows[None, None]


restricted_mask.wrong(
    "(t, t)",
    swap(
        "return ((position[:, None] - position).abs() <= (r - 1) // 2)[None, None]",
        "return (position[:, None] - position).abs() <= (r - 1) // 2",
    ),
)
restricted_mask.wrong(
    "a mask of zeros and ones",
    swap("[None, None]", ".int()[None, None]"),
    names="numbers instead of bools",
)
restricted_mask.wrong(
    "a mask created on the default device",
    swap("length, device=device", "length"),
    names="default device",
)
restricted_mask.wrong(
    "a mask that hides nothing",
    body("return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)"),
    names="nothing, or everything",
)
restricted_mask.wrong(
    "a mask that hides everything",
    body("return torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)"),
    names="nothing, or everything",
)


@restricted_mask.wrong("code that needs a sentence longer than r", names="1 < r < t")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    if r > length:
        raise ValueError("the sentence is too short")
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(side) & ones.triu(-side)


restricted_mask.wrong(
    "a mask that hides nothing if r is the sentence length",
    swap("<= (r - 1) // 2", "<= (length if r >= length else (r - 1) // 2)"),
    names="1 < r < t",
)


@restricted_mask.right("two triangles")
def restricted_mask(length, r, device=None):
    side = r // 2
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(side) & ones.triu(-side)


@restricted_mask.right("a loop over the queries")
def restricted_mask(length, r, device=None):
    side = (r - 1) // 2
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)
    for i in range(length):
        mask[..., i, max(0, i - side) : i + side + 1] = True
    return mask


@restricted_mask.right("a list of lists")
def restricted_mask(length, r, device=None):
    places = range(length)
    rows = [[2 * abs(i - j) < r for j in places] for i in places]
    return torch.tensor(rows, device=device).view(1, 1, length, length)


@restricted_mask.right("a comparison of twice the distance")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    distance = torch.abs(position.unsqueeze(0) - position.unsqueeze(1))
    return (2 * distance < r).unsqueeze(0).unsqueeze(0)


@restricted_mask.right("a division by 2 that is not rounded")
def restricted_mask(length, r, device=None):
    position = torch.arange(length, device=device)
    near = (position - position[:, None]).abs() <= (r - 1) / 2
    return near.expand(1, 1, -1, -1)


@restricted_mask.right("a sum of diagonals")
def restricted_mask(length, r, device=None):
    mask = torch.zeros(length, length, device=device)
    for offset in range(-(r // 2), r // 2 + 1):
        count = length - abs(offset)
        if count > 0:
            mask += torch.diag(torch.ones(count, device=device), offset)
    return mask.bool()[None, None]


@restricted_mask.right("torch.cdist")
def restricted_mask(length, r, device=None):
    place = torch.arange(length, dtype=torch.float32, device=device)[:, None]
    return (torch.cdist(place, place, p=1) <= r // 2)[None, None]


@restricted_mask.right("a numpy mask that is moved to the device")
def restricted_mask(length, r, device=None):
    band = np.tri(length, k=r // 2) - np.tri(length, k=-(r // 2) - 1)
    mask = torch.from_numpy(band.astype(bool))[None, None]
    return mask if device is None else mask.to(device)


@restricted_mask.right("max pooling of an identity matrix")
def restricted_mask(length, r, device=None):
    identity = torch.eye(length, device=device)[None, None]
    return F.max_pool2d(identity, (1, r), stride=1, padding=(0, r // 2)) > 0


# --- alignment_error_rate ---------------------------------------------------------

alignment_error_rate = answer("transformer.experiments.complexity.alignment_error_rate")
alignment_error_rate.with_faults("state default")
alignment_error_rate.wrong(
    "1 minus the rate", swap("1 - hits", "hits"), names="quality instead of error"
)
alignment_error_rate.wrong(
    "a percentage",
    swap(
        "return 1 - hits / (len(predicted) + len(sure))",
        "return 100 * (1 - hits / (len(predicted) + len(sure)))",
    ),
    names="as a percentage",
)
alignment_error_rate.wrong(
    "1 - precision",
    body("return 1 - len(predicted & possible) / len(predicted)"),
    names="are not possible",
)
alignment_error_rate.wrong(
    "1 - recall",
    body("return 1 - len(predicted & sure) / len(sure)"),
    names="were not found",
)
alignment_error_rate.wrong("S and P swapped", swap("(sure)", "(possible)"))
alignment_error_rate.wrong(
    "no possible links",
    body("return 1 - 2 * len(predicted & sure) / (len(predicted) + len(sure))"),
    names="without the possible links",
)
alignment_error_rate.wrong(
    "possible links counted twice",
    body("return 1 - 2 * len(predicted & possible) / (len(predicted) + len(sure))"),
    names="2 |A ∩ P| in",
)
alignment_error_rate.wrong("P without S", swap("& possible", "& (possible - sure)"))
alignment_error_rate.wrong(
    "only |A ∩ S|",
    body("return 1 - len(predicted & sure) / (len(predicted) + len(sure))"),
)
alignment_error_rate.wrong(
    "the mean of precision and recall",
    body("""
        precision = len(predicted & possible) / len(predicted)
        return 1 - (precision + len(predicted & sure) / len(sure)) / 2
        """),
    diagnosed=False,
)
alignment_error_rate.wrong(
    "a division by twice the number of predicted links",
    swap("(len(predicted) + len(sure))", "(2 * len(predicted))"),
    diagnosed=False,
)
alignment_error_rate.wrong(
    "a division by the size of the union",
    swap("(len(predicted) + len(sure))", "len(predicted | sure)"),
    names="in A or in S",
)
alignment_error_rate.wrong(
    "Jaccard's distance",
    body("return 1 - len(predicted & sure) / len(predicted | sure)"),
    names="Jaccard",
)
alignment_error_rate.wrong(
    "missing parentheses",
    swap("(len(predicted) + len(sure))", "len(predicted) + len(sure)"),
    names="without parentheses",
)


@alignment_error_rate.wrong("an F-measure of both", names="harmonic mean")
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / len(predicted)
    recall = len(predicted & sure) / len(sure)
    return 1 - 2 * precision * recall / (precision + recall)


alignment_error_rate.wrong(
    "unions instead of intersections",
    swap(
        "len(predicted & sure) + len(predicted & possible)",
        "len(predicted | sure) + len(predicted | possible)",
    ),
    names="unions instead of",
)
alignment_error_rate.wrong(
    "an integer division", swap("hits /", "hits //"), names="`//`"
)


@alignment_error_rate.wrong("an input set that is changed", names="changed in place")
def alignment_error_rate(predicted, sure, possible):
    total = len(predicted) + len(sure)
    hits = len(predicted & possible)
    predicted &= sure
    return 1 - (hits + len(predicted)) / total


alignment_error_rate.wrong(
    "0 if nothing is predicted",
    insert(
        """
        if not predicted:
            return 0.0
        """,
        before="hits =",
    ),
    names="if nothing is predicted",
)


@alignment_error_rate.wrong(
    "1 if no link is sure", names="as if possible links did not count"
)
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / max(1, len(predicted))
    if not sure or not predicted:
        return 1.0
    recall = len(predicted & sure) / len(sure)
    found = precision * len(predicted) + recall * len(sure)
    return 1 - found / (len(predicted) + len(sure))


@alignment_error_rate.wrong("links of two numbers")
def alignment_error_rate(predicted, sure, possible):
    hits = sum((i, j) in sure for i, j in predicted)
    hits += sum((i, j) in possible for i, j in predicted)
    return 1 - hits / (len(predicted) + len(sure))


@alignment_error_rate.wrong(
    "precision computed first", names="the number of predicted links"
)
def alignment_error_rate(predicted, sure, possible):
    precision = len(predicted & possible) / len(predicted)
    hits = precision * len(predicted) + len(predicted & sure)
    return 1 - hits / (len(predicted) + len(sure))


@alignment_error_rate.wrong("recall computed first", names="the number of sure links")
def alignment_error_rate(predicted, sure, possible):
    recall = len(predicted & sure) / len(sure)
    hits = len(predicted & possible) + recall * len(sure)
    return 1 - hits / (len(predicted) + len(sure))


@alignment_error_rate.right("the intersection method of sets")
def alignment_error_rate(predicted, sure, possible):
    a_s = predicted.intersection(sure)
    a_p = predicted.intersection(possible)
    return 1 - (len(a_s) + len(a_p)) / (len(predicted) + len(sure))


@alignment_error_rate.right("a loop over the links")
def alignment_error_rate(predicted, sure, possible):
    hits = 0
    for link in predicted:
        if link in sure:
            hits += 1
        if link in possible:
            hits += 1
    return 1.0 - hits / (len(predicted) + len(sure))


@alignment_error_rate.right("sums of bools")
def alignment_error_rate(predicted, sure, possible):
    hits = sum(link in sure for link in predicted)
    hits += sum(link in possible for link in predicted)
    total = len(predicted) + len(sure)
    return (total - hits) / total


@alignment_error_rate.right("fractions")
def alignment_error_rate(predicted, sure, possible):
    hits = len(predicted & sure) + len(predicted & possible)
    return float(1 - Fraction(hits, len(predicted) + len(sure)))


@alignment_error_rate.right("a count of errors instead of hits")
def alignment_error_rate(predicted, sure, possible):
    missed = len(sure - predicted)
    impossible = len(predicted - possible)
    return (missed + impossible) / (len(predicted) + len(sure))


@alignment_error_rate.right("lists and a comprehension")
def alignment_error_rate(predicted, sure, possible):
    a = list(predicted)
    found = [link for link in a if link in sure] + [x for x in a if x in possible]
    return 1 - len(found) / (len(a) + len(list(sure)))


@alignment_error_rate.right("a tensor with one number")
def alignment_error_rate(predicted, sure, possible):
    hits = torch.tensor(float(len(predicted & sure) + len(predicted & possible)))
    return 1 - hits / (len(predicted) + len(sure))


@alignment_error_rate.right("functools.reduce")
def alignment_error_rate(predicted, sure, possible):
    def count(total, link):
        return total + (link in sure) + (link in possible)

    hits = functools.reduce(count, predicted, 0)
    return 1 - hits / (len(predicted) + len(sure))


# --- Families of mistakes: state, fixed sizes, extremes, points for nothing ---------

for exercise, constant, words in (
    (layer_cost, "1", "the same result for different inputs"),
    (layer_cost, "None", "other than a number"),
    (layer_cost, "length", "only the length n"),
    (path_length, "1", "the same number for every length"),
    (path_length, "None", "other than a number"),
    (path_length, "length", "the number of positions"),
    (restricted_mask, "None", "other than a tensor"),
    (
        restricted_mask,
        "torch.ones(1, 1, length, length, device=device)",
        "a mask that hides nothing",
    ),
    (alignment_error_rate, "0.0", "the same result for different inputs"),
    (alignment_error_rate, "1.0", "the same result for different inputs"),
    (alignment_error_rate, "None", "other than a number"),
):
    exercise.wrong(f"always {constant}", body(f"return {constant}"), names=words)
layer_cost.wrong(
    "32-bit floats",
    swap(
        "length, d_model, width",
        "torch.tensor(float(length)), torch.tensor(float(d_model)), width",
    ),
    names="too few digits",
)
path_length.wrong(
    "even kernels treated as odd",
    swap(
        "math.ceil((length - 1) / (width - 1))",
        "math.ceil((length - 1) / (width // 2 * 2))",
    ),
    names="if k is even",
)
path_length.wrong(
    "a logarithm minus a small number",
    swap(
        """
        layers = 1
        while width**layers < length:
            layers += 1
        return layers
        """,
        "return math.ceil(math.log(length, width) - 1e-9)",
    ),
    names="slightly reduced",
)
restricted_mask.wrong(
    "a mask cached by its length",
    swap(
        "position = torch.arange(length, device=device)",
        """
        kept = restricted_mask.__dict__
        if (length, str(device)) in kept:
            return kept[length, str(device)]
        position = torch.arange(length, device=device)
        """,
    ),
    swap("return ((position", "kept[length, str(device)] = ((position"),
    swap("[None, None]", "[None, None]\nreturn kept[length, str(device)]"),
    names="an earlier call",
)
restricted_mask.wrong(
    "a table with 100 positions",
    swap(
        "torch.arange(length, device=device)",
        "torch.arange(100, device=device)[:length]",
    ),
    names="too few positions",
)
restricted_mask.wrong(
    "8-bit positions",
    swap(
        "torch.arange(length, device=device)",
        "torch.arange(length, device=device).to(torch.int8)",
    ),
    names="8-bit positions",
)
alignment_error_rate.wrong(
    "a rate rounded to two digits",
    swap(
        "return 1 - hits / (len(predicted) + len(sure))",
        "return round(1 - hits / (len(predicted) + len(sure)), 2)",
    ),
    names="rounded to two digits",
)


# --- Families of mistakes: results cached for other arguments, seeds, devices --------

for exercise, description, key in (
    (layer_cost, "once for all calls", "None"),
    (layer_cost, "by the kind", "kind"),
    (layer_cost, "by the sizes", "(length, d_model, width)"),
    (layer_cost, "by the kind and the length", "(kind, length)"),
    (layer_cost, "regardless of the width", "(kind, length, d_model)"),
    (layer_cost, "regardless of d_model", "(kind, length, width)"),
    (layer_cost, "regardless of the length", "(kind, d_model, width)"),
    (path_length, "once for all calls", "None"),
    (path_length, "by the sizes", "(length, width)"),
    (path_length, "regardless of the width", "(kind, length)"),
    (restricted_mask, "once for all calls", "None"),
    (restricted_mask, "regardless of the length", "(r, str(device))"),
    (alignment_error_rate, "once for all calls", "None"),
    (
        alignment_error_rate,
        "by the numbers of links",
        "(len(predicted), len(sure), len(possible))",
    ),
    (
        alignment_error_rate,
        "regardless of the predicted links",
        "(len(sure), len(possible))",
    ),
    (alignment_error_rate, "by the predicted links", "frozenset(predicted)"),
    (
        alignment_error_rate,
        "regardless of the sure links",
        "(frozenset(predicted), frozenset(possible))",
    ),
    (
        alignment_error_rate,
        "regardless of the possible links",
        "(frozenset(predicted), frozenset(sure))",
    ),
):
    exercise.wrong(
        f"a result cached {description}", keep(key), names="kept from an earlier call"
    )
for description, key in (
    ("by the kind", "kind"),
    ("regardless of the length", "(kind, width)"),
):
    path_length.wrong(
        f"a result cached {description}",
        keep(key),
        names="the same number for every length",
    )
restricted_mask.wrong(
    "a cached mask that ignores the device",
    keep("(length, r)"),
    names="a mask on the CPU",
)
restricted_mask.wrong(
    "a mask that is always on the CPU",
    swap("length, device=device", 'length, device="cpu"'),
    names="a mask on the CPU",
)
for exercise, key in (
    (layer_cost, "(kind, length, d_model, width)"),
    (path_length, "(kind, length, width)"),
    (restricted_mask, "(length, r, str(device))"),
    (alignment_error_rate, "tuple(map(frozenset, (predicted, sure, possible)))"),
):
    exercise.right("a result cached by all arguments", keep(key))
layer_cost.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before="n, d, k"),
    names="the random state",
)
path_length.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before='if kind == "self_attention"'),
    names="the random state",
)
restricted_mask.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before="position ="),
    names="the random state",
)
alignment_error_rate.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before="hits ="),
    names="the random state",
)
alignment_error_rate.wrong(
    "a list with one number",
    swap(
        "return 1 - hits / (len(predicted) + len(sure))",
        "return [1 - hits / (len(predicted) + len(sure))]",
    ),
    names="other than a number",
)


# --- Families of mistakes: sizes that no visible check has -------------------------

layer_cost.wrong(
    "a width that is always odd",
    swap("d, k = length, d_model, width", "d, k = length, d_model, width // 2 * 2 + 1"),
    names="to an odd one",
)
layer_cost.wrong(
    "an error for sizes of 1",
    insert(
        """
        if min(length, d_model, width) < 2:
            raise ValueError("the sizes are too small")
        """,
        before='if kind == "self_attention"',
    ),
    names="sizes above 1",
)
layer_cost.wrong(
    "0 for a single token",
    insert(
        """
        if length == 1:
            return 0
        """,
        before='if kind == "self_attention"',
    ),
    names="sizes above 1",
)
layer_cost.wrong(
    "32-bit numpy numbers",
    swap(
        "length, d_model, width",
        "np.int32(length), np.int32(d_model), np.int32(width)",
    ),
    names="too few digits",
)
layer_cost.right(
    "numpy numbers",
    swap(
        "length, d_model, width",
        "np.int64(length), np.int64(d_model), np.int64(width)",
    ),
)
path_length.wrong(
    "at most 30 layers",
    swap("width**layers < length", "width**layers < length and layers < 30"),
    names="a bound on",
)
path_length.wrong(
    "at most 20 layers",
    swap("width**layers < length", "width**layers < length and layers < 20"),
    names="a bound on",
)


@path_length.right("recursion over the last step")
def path_length(kind, length, width=3):
    if kind == "self_attention":
        return 1
    if kind == "dilated_convolution":
        return (
            1 if length <= width else 1 + path_length(kind, -(-length // width), width)
        )
    reach = {"recurrent": 1, "restricted_attention": (width - 1) // 2}
    step = reach.get(kind, width - 1)
    if length - 1 <= step:
        return 1
    return 1 + path_length(kind, length - step, width)


path_length.right(
    "numpy's ceil, which returns a float",
    swap(
        "math.ceil((length - 1) / (width - 1))", "np.ceil((length - 1) / (width - 1))"
    ),
)
for size in (512, 1000):
    restricted_mask.wrong(
        f"a table with {size} positions",
        swap(
            "torch.arange(length, device=device)",
            f"torch.arange({size}, device=device)[:length]",
        ),
        names="too few positions",
    )
restricted_mask.wrong(
    "positions in bfloat16",
    swap(
        "torch.arange(length, device=device)",
        "torch.arange(length, device=device).bfloat16()",
    ),
    names="too few positions",
)
restricted_mask.wrong(
    "unsigned positions",
    swap(
        "torch.arange(length, device=device)",
        "torch.arange(length, device=device).to(torch.uint8)",
    ),
    diagnosed=False,
)
restricted_mask.wrong(
    "one buffer for all calls",
    swap(
        "return ((position[:, None] - position).abs() <= (r - 1) // 2)[None, None]",
        """
        kept = restricted_mask.__dict__.setdefault(
            str(device), torch.empty(2000, 2000, dtype=torch.bool, device=device)
        )[None, None, :length, :length]
        kept.copy_((position[:, None] - position).abs() <= (r - 1) // 2)
        return kept
        """,
    ),
    diagnosed=False,
)
restricted_mask.wrong(
    "a default device that is not restored",
    insert("torch.set_default_device(device)", before="position ="),
    names="the default device",
)
for digits, word in ((3, "three"), (4, "four")):
    alignment_error_rate.wrong(
        f"a rate rounded to {word} digits",
        swap(
            "return 1 - hits / (len(predicted) + len(sure))",
            f"return round(1 - hits / (len(predicted) + len(sure)), {digits})",
        ),
        names=f"rounded to {word}",
    )
alignment_error_rate.wrong(
    "a rate in half precision",
    swap(
        "return 1 - hits / (len(predicted) + len(sure))",
        """
        rate = torch.tensor(1 - hits / (len(predicted) + len(sure)))
        return rate.half().item()
        """,
    ),
    names="half precision",
)


@alignment_error_rate.wrong(
    "possible links taken as sure if no link is sure", names="taken as sure"
)
def alignment_error_rate(predicted, sure, possible):
    sure = sure or possible
    hits = len(predicted & sure) + len(predicted & possible)
    return 1 - hits / (len(predicted) + len(sure))


@alignment_error_rate.wrong("links joined into strings", names="(1, 11)")
def alignment_error_rate(predicted, sure, possible):
    a, s, p = ({"".join(map(str, x)) for x in y} for y in (predicted, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


@alignment_error_rate.wrong("links without a direction", diagnosed=False)
def alignment_error_rate(predicted, sure, possible):
    a, s, p = ({frozenset(x) for x in y} for y in (predicted, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


@alignment_error_rate.wrong("a matrix for at most 64 words", diagnosed=False)
def alignment_error_rate(predicted, sure, possible):
    def table(links):
        grid = np.zeros((64, 64), dtype=bool)
        for i, j in links:
            grid[i, j] = True
        return grid

    a, s, p = table(predicted), table(sure), table(possible)
    hits = (a & s).sum() + (a & p).sum()
    return float(1 - hits / (len(predicted) + len(sure)))


@alignment_error_rate.right("a separate set of possible links that are not sure")
def alignment_error_rate(predicted, sure, possible):
    only_possible = possible - sure
    hits = 2 * len(predicted & sure) + len(predicted & only_possible)
    return 1 - np.float64(hits) / (len(predicted) + len(sure))
