"""Wrong variants and right styles of unit 03, as students write them."""

import math

import torch
from torch import nn

from autograder.proof.variants import right, wrong

# --- sinusoidal_encoding: wrong ---------------------------------------------------


@wrong("2i doubled", diagnosed=True, names="is 2i already")
def sinusoidal_encoding(length, d_model):
    i = torch.arange(0, d_model, 2)
    angles = torch.arange(length)[:, None] / 10000 ** (2 * i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("i for 2i", diagnosed=True, names="is i, not 2i")
def sinusoidal_encoding(length, d_model):
    i = torch.arange(d_model // 2)
    angles = torch.arange(length)[:, None] / 10000 ** (i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("one exponent a column", diagnosed=True, names="a rate of its own")
def sinusoidal_encoding(length, d_model):
    columns = torch.arange(d_model)
    angles = torch.arange(length)[:, None] / 10000 ** (columns / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = angles[:, 0::2].sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


@wrong("sine and cosine swapped", diagnosed=True)
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


@wrong("halves concatenated", diagnosed=True, names="they should alternate")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


@wrong("positions from 1", diagnosed=True, names="counted from 1")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(1, length + 1)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("base 1000", diagnosed=True, names="the base 1000 in")
def sinusoidal_encoding(length, d_model):
    rates = 1000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("multiplied, not divided", diagnosed=True, names="a multiplication by")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


@wrong("sines everywhere", diagnosed=True)
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return angles.sin().repeat_interleave(2, dim=1)


@wrong("cosines everywhere", diagnosed=True)
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return angles.cos().repeat_interleave(2, dim=1)


@wrong("log10", diagnosed=True, names="log10 in place")
def sinusoidal_encoding(length, d_model):
    two_i = torch.arange(0, d_model, 2)
    rates = torch.exp(-two_i * math.log10(10000) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("pos/L", diagnosed=True, names="divided by the length")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] / length * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("times 2π", diagnosed=True, names="angles in turns")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = 2 * math.pi * torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("in degrees", diagnosed=True)
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.deg2rad(torch.arange(length)[:, None] * rates)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("transposed", diagnosed=True, names="the transposed table")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).T


@wrong("in float64", diagnosed=True, names="not float32")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("the last rate 1/10000", diagnosed=True, names="(d_model - 2)")
def sinusoidal_encoding(length, d_model):
    pairs = torch.arange(d_model // 2)
    rates = 10000.0 ** (-pairs / max(d_model // 2 - 1, 1))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@wrong("the angles alone", diagnosed=True, names="the angles, without")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return angles.repeat_interleave(2, dim=1)


# --- sinusoidal_encoding: right ---------------------------------------------------


@right("exp(-log), two slices")
def sinusoidal_encoding(length, d_model):
    table = torch.zeros(length, d_model)
    position = torch.arange(0, length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table


@right("pow, as in the formula")
def sinusoidal_encoding(length, d_model):
    pos = torch.arange(length, dtype=torch.float).unsqueeze(1)
    two_i = torch.arange(0, d_model, 2, dtype=torch.float)
    angle = pos / torch.pow(10000, two_i / d_model)
    return torch.stack((torch.sin(angle), torch.cos(angle)), dim=2).view(length, -1)


@right("outer")
def sinusoidal_encoding(length, d_model):
    rates = 10000 ** (-2 * torch.arange(d_model // 2) / d_model)
    angles = torch.outer(torch.arange(length).float(), rates)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(length, d_model)


@right("complex numbers")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turns).flip(-1).flatten(1)


@right("cosine as a shifted sine")
def sinusoidal_encoding(length, d_model):
    columns = torch.arange(d_model, dtype=torch.float64)
    rates = 10000.0 ** (-(columns - columns % 2) / d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.sin(angles + columns % 2 * math.pi / 2).float()


@right("loops")
def sinusoidal_encoding(length, d_model):
    table = torch.empty(length, d_model)
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


@right("columns in a list")
def sinusoidal_encoding(length, d_model):
    pos = torch.arange(length, dtype=torch.float32)
    columns = []
    for column in range(d_model):
        angle = pos * 10000 ** (-(column // 2 * 2) / d_model)
        columns.append(angle.cos() if column % 2 else angle.sin())
    return torch.stack(columns, dim=1)


# --- offset_matrix: wrong ---------------------------------------------------------


@wrong("moves back", diagnosed=True, names="moves back by k")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, -sin, sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("the minus sign forgotten", diagnosed=True, names="without a minus sign")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("for halves", diagnosed=True, names="sines in the first half")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates).diag(), torch.sin(k * rates).diag()
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])


@wrong("moves by 1", diagnosed=True, names="moves by 1, whatever k is")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(rates), torch.sin(rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("sine and cosine swapped", diagnosed=True)
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([sin, -cos, cos, sin], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("2i doubled", diagnosed=True, names="is 2i already")
def offset_matrix(k, d_model):
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    rates = 10000.0 ** (-2 * i / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("i for 2i", diagnosed=True, names="is i, not 2i")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(d_model // 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("the base 1000", diagnosed=True)
def offset_matrix(k, d_model):
    rates = 1000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("one block for all", diagnosed=True, names="one rate for all pairs")
def offset_matrix(k, d_model):
    block = torch.tensor([[math.cos(k), math.sin(k)], [-math.sin(k), math.cos(k)]])
    return torch.block_diag(*[block] * (d_model // 2))


@wrong("the identity", diagnosed=True)
def offset_matrix(k, d_model):
    return torch.eye(d_model, dtype=torch.float64)


@wrong("only the cosines", diagnosed=True)
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.cos(k * rates).repeat_interleave(2).diag()


@wrong("multiplied, not divided", diagnosed=True, names="a multiplication by")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates), torch.sin(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


@wrong("forward only", diagnosed=True, names="k above 0 only")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(rates), torch.sin(rates)
    one = torch.block_diag(*torch.stack([cos, sin, -sin, cos], -1).view(-1, 2, 2))
    moved = torch.eye(d_model, dtype=torch.float64)
    for _ in range(k):
        moved = one @ moved
    return moved


# --- offset_matrix: right ---------------------------------------------------------


@right("entries set one by one")
def offset_matrix(k, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


@right("two diagonals and strides")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    even = torch.arange(0, d_model, 2)
    matrix = torch.cos(k * rates).repeat_interleave(2).diag()
    matrix[even, even + 1] = torch.sin(k * rates)
    matrix[even + 1, even] = -torch.sin(k * rates)
    return matrix


@right("a list of blocks")
def offset_matrix(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = k * 10000.0 ** (-2 * i / d_model)
        c, s = math.cos(a), math.sin(a)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)


@right("a power of the matrix for one step")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = rates.cos(), rates.sin()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.linalg.matrix_power(torch.block_diag(*blocks), k)


@right("the exponential of its generator")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    generator = torch.block_diag(*(rate * turn for rate in rates))
    return torch.linalg.matrix_exp(k * generator)


@right("a Kronecker product with a permutation, in float32")
def offset_matrix(k, d_model):
    angles = k * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.kron(angles.cos().diag(), torch.eye(2)) + torch.kron(
        angles.sin().diag(), turn
    )


# --- SinusoidalPositionalEncoding: wrong ------------------------------------------


@wrong(
    "pe[:x.size(0)] with a table (max_len, 1, d)",
    diagnosed=True,
    names="counted along the batch",
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        table = sinusoidal_encoding(max_len, d_model).unsqueeze(1)
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(0)]


@wrong(
    "pe[:x.size(0)] with a table (max_len, d)",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="counted along the batch",
)
def forward(self, x, start=0):
    return x + self.table[start : start + x.size(0)]


@wrong("a trainable table", diagnosed=True)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Parameter(sinusoidal_encoding(max_len, d_model))

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)]


@wrong("a plain attribute", diagnosed=True, names="does not move with the layer")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)]


@wrong(
    "a plain attribute, moved to the dtype of x alone",
    diagnosed=True,
    names="does not move with the layer",
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)].to(x.dtype)


@wrong("nothing is added, nor in the table", diagnosed=True, names="the words alone")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        global sinusoidal_encoding  # as if it had been written so in exercise 1
        super().__init__()
        sinusoidal_encoding = torch.zeros

    def forward(self, x, start=0):
        return x


@wrong("start ignored, in a table of equal rows")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        global sinusoidal_encoding  # as if it had been written so in exercise 1
        super().__init__()
        sinusoidal_encoding = torch.ones
        self.register_buffer("table", torch.ones(max_len, d_model))

    def forward(self, x, start=0):
        return x + self.table[: x.size(1)]


@wrong("a learned table", diagnosed=True, names="a trainable table")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table(torch.arange(start, start + x.size(1)))


@wrong(
    "start ignored",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="whatever `start` is",
)
def forward(self, x, start=0):
    return x + self.table[: x.size(1)]


@wrong(
    "scaled after the sum",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="the sum times √d_model",
)
def forward(self, x, start=0):
    positions = self.table[start : start + x.size(1)]
    return (x + positions) * math.sqrt(x.size(-1))


@wrong(
    "the words scaled again",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="a second time",
)
def forward(self, x, start=0):
    return x * math.sqrt(x.size(-1)) + self.table[start : start + x.size(1)]


@wrong(
    "positions alone",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="the positions alone",
)
def forward(self, x, start=0):
    return self.table[start : start + x.size(1)].expand_as(x)


@wrong(
    "multiplied",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="times the positions",
)
def forward(self, x, start=0):
    return x * self.table[start : start + x.size(1)]


@wrong(
    "side by side",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="side by side",
)
def forward(self, x, start=0):
    positions = self.table[start : start + x.size(1)]
    return torch.cat([x, positions.expand_as(x)], dim=-1)


@wrong(
    "one position for all",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="one position for all words",
)
def forward(self, x, start=0):
    return x + self.table[start]


@wrong(
    "the number of words for the position",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="the position of the last word",
)
def forward(self, x, start=0):
    return x + self.table[start + x.size(1) - 1]


@wrong(
    "from 1",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="counted from 1",
)
def forward(self, x, start=0):
    padded = torch.cat([self.table, self.table[-1:]])
    return x + padded[start + 1 : start + 1 + x.size(1)]


@wrong(
    "in place",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="an input is changed in place",
)
def forward(self, x, start=0):
    x += self.table[start : start + x.size(1)]
    return x


@wrong(
    "dropout",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="the result is random",
)
def forward(self, x, start=0):
    x = x + self.table[start : start + x.size(1)]
    return torch.nn.functional.dropout(x, 0.1)


@wrong(
    "detached",
    diagnosed=True,
    replaces="SinusoidalPositionalEncoding.forward",
    names="the gradient is cut off",
)
def forward(self, x, start=0):
    return (x + self.table[start : start + x.size(1)]).detach()


# --- SinusoidalPositionalEncoding: right ------------------------------------------


@right("a table (1, max_len, d), saved with the model")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model)[None])

    def forward(self, x, start=0):
        return x + self.table[:, start : start + x.size(1)]


@right("a frozen nn.Embedding's table as a buffer, looked up")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model))

    def forward(self, x, start=0):
        positions = torch.arange(start, start + x.shape[1], device=x.device)
        return torch.nn.functional.embedding(positions, self.table) + x


@right("a plain attribute, moved to x at each call")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)].to(x)


@right("narrow", replaces="SinusoidalPositionalEncoding.forward")
def forward(self, x, start=0):
    return x + self.table.narrow(0, start, x.size(1)).unsqueeze(0)


@right("copies for the batch", replaces="SinusoidalPositionalEncoding.forward")
def forward(self, x, start=0):
    b, t, _ = x.shape
    positions = torch.arange(start, start + t, device=x.device).repeat(b, 1)
    return torch.add(x, self.table[positions])


@right("a loop over the words", replaces="SinusoidalPositionalEncoding.forward")
def forward(self, x, start=0):
    words = [x[:, i] + self.table[start + i] for i in range(x.size(1))]
    return torch.stack(words, dim=1)


@right("an in-place sum of a copy", replaces="SinusoidalPositionalEncoding.forward")
def forward(self, x, start=0):
    result = x.clone()
    result += self.table[start:][: x.size(1)]
    return result


# --- LearnedPositionalEncoding: wrong ---------------------------------------------


@wrong(
    "arange(x.size(0))",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="counted along the batch",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(0))
    return x + self.table(positions)


@wrong(
    "positions by sentence",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="counted along the batch",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(0))
    return x + self.table(positions).unsqueeze(1)


@wrong(
    "start ignored",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="whatever `start` is",
)
def forward(self, x, start=0):
    return x + self.table(torch.arange(x.size(1)))


@wrong(
    "positions alone",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the positions alone",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1))
    return self.table(positions).expand_as(x)


@wrong(
    "no positions",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the words alone",
)
def forward(self, x, start=0):
    self.table(torch.arange(start, start + x.size(1)))
    return x


@wrong(
    "detached table",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the gradient is cut off",
)
def forward(self, x, start=0):
    return x + self.table.weight.data[start : start + x.size(1)]


@wrong(
    "detached words",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the gradient is cut off",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1))
    return x.detach() + self.table(positions)


@wrong(
    "scaled after the sum",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the sum times √d_model",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1))
    return (x + self.table(positions)) * math.sqrt(x.size(-1))


@wrong(
    "one position for all",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="one position for all words",
)
def forward(self, x, start=0):
    return x + self.table(torch.tensor(start))


@wrong(
    "the number of words for the position",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the position of the last word",
)
def forward(self, x, start=0):
    return x + self.table(torch.tensor(start + x.size(1) - 1))


@wrong(
    "the last rows",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="the last rows of the table",
)
def forward(self, x, start=0):
    return x + self.table.weight[-x.size(1) :]


@wrong(
    "sines in place of the table",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="sines in place of the learned",
)
def forward(self, x, start=0):
    table = sinusoidal_encoding(self.table.num_embeddings, x.size(-1))
    return x + table[start : start + x.size(1)]


@wrong(
    "in place",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="an input is changed in place",
)
def forward(self, x, start=0):
    with torch.no_grad():
        x += self.table(torch.arange(start, start + x.size(1)))
    return x + 0 * self.table(torch.arange(start, start + x.size(1)))


@wrong(
    "no device for the positions",
    diagnosed=True,
    replaces="LearnedPositionalEncoding.forward",
    names="default device",
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1))
    return x + self.table(positions)


# --- LearnedPositionalEncoding: right ---------------------------------------------


@right("a slice of the weight", replaces="LearnedPositionalEncoding.forward")
def forward(self, x, start=0):
    return x + self.table.weight[start : start + x.size(1)]


@right("copies for the batch", replaces="LearnedPositionalEncoding.forward")
def forward(self, x, start=0):
    batch_size, length = x.shape[:2]
    pos = torch.arange(0, length).unsqueeze(0).repeat(batch_size, 1).to(x.device)
    return x + self.table(pos + start)


@right(
    "one-hot positions times the matrix", replaces="LearnedPositionalEncoding.forward"
)
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1), device=x.device)
    one_hot = torch.nn.functional.one_hot(positions, self.table.num_embeddings)
    return x + one_hot.to(x.dtype) @ self.table.weight


@right("F.embedding", replaces="LearnedPositionalEncoding.forward")
def forward(self, x, start=0):
    positions = start + torch.arange(x.size(-2), device=x.device)
    return torch.nn.functional.embedding(positions, self.table.weight) + x


@right("a loop over the words", replaces="LearnedPositionalEncoding.forward")
def forward(self, x, start=0):
    rows = [self.table.weight[start + i] for i in range(x.size(1))]
    return x + torch.stack(rows)


@right("cumulative counting", replaces="LearnedPositionalEncoding.forward")
def forward(self, x, start=0):
    counted = torch.ones_like(x[..., 0], dtype=torch.long).cumsum(dim=1) - 1
    return x + self.table(counted + start)


@right("another constructor: a parameter by itself")
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.rows = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x, start=0):
        return x + self.rows[start : start + x.size(1)]


@right("another constructor: the positions as a buffer that is saved")
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("positions", torch.arange(max_len))
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table(self.positions[start : start + x.size(1)])
