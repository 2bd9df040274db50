"""Wrong variants and right styles of unit 03, as students write them."""

import math

import torch
from torch import nn

from autograder.proof.variants import answer, body, drop, swap

# --- sinusoidal_encoding ----------------------------------------------------------

sinusoidal_encoding = answer("transformer.positional.sinusoidal_encoding")


@sinusoidal_encoding.wrong("the exponent 2·(2i)/d_model", names="is already 2i")
def sinusoidal_encoding(length, d_model):
    i = torch.arange(0, d_model, 2)
    angles = torch.arange(length)[:, None] / 10000 ** (2 * i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@sinusoidal_encoding.wrong("the exponent i/d_model", names="is i, not 2i")
def sinusoidal_encoding(length, d_model):
    i = torch.arange(d_model // 2)
    angles = torch.arange(length)[:, None] / 10000 ** (i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@sinusoidal_encoding.wrong(
    "a different rate for each column", names="a different rate for each"
)
def sinusoidal_encoding(length, d_model):
    columns = torch.arange(d_model)
    angles = torch.arange(length)[:, None] / 10000 ** (columns / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = angles[:, 0::2].sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


in_float32 = answer(
    "transformer.positional.sinusoidal_encoding",
    body("""
        rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(length)[:, None] * rates
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        """),
)
in_float32.with_faults("state default")
in_float32.wrong(
    "sine and cosine swapped", swap("sin(), angles.cos", "cos(), angles.sin")
)
in_float32.wrong(
    "all sines before all cosines",
    swap("stack", "cat"),
    drop(".flatten(1)"),
    names="they should alternate",
)
in_float32.wrong(
    "positions that are counted from 1",
    swap("(length)", "(1, length + 1)"),
    names="counted from 1",
)
in_float32.wrong(
    "the base 1000 instead of 10000",
    swap("10000.0", "1000.0"),
    names="the base 1000 in",
)


@sinusoidal_encoding.wrong(
    "a multiplication instead of a division", names="a multiplication by"
)
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


in_float32.wrong(
    "sines in all columns",
    swap(
        "torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)",
        "angles.sin().repeat_interleave(2, dim=1)",
    ),
)
in_float32.wrong(
    "cosines in all columns",
    swap(
        "torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)",
        "angles.cos().repeat_interleave(2, dim=1)",
    ),
)
in_float32.wrong(
    "log10 instead of the natural logarithm",
    swap("10000.0 **", "torch.exp"),
    swap("(0, d_model, 2)", "(0, d_model, 2) * math.log10(10000)"),
    names="log10 instead",
)
in_float32.wrong(
    "positions that are divided by the length",
    swap("* rates", "/ length * rates"),
    names="divided by the length",
)
in_float32.wrong(
    "angles with a factor 2π",
    swap("= torch", "= 2 * math.pi * torch"),
    names="angles with a factor 2π",
)


@sinusoidal_encoding.wrong("the positions in degrees")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.deg2rad(torch.arange(length)[:, None] * rates)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


in_float32.wrong(
    "a transposed table", swap("(1)", "(1).T"), names="the transposed table"
)
in_float32.wrong(
    "a table in float64", swap("2", "2, dtype=torch.float64"), names="not float32"
)
in_float32.wrong(
    "a last rate of 1/10000",
    swap("(0, d_model, 2) / d_model", "(d_model // 2) / max(d_model // 2 - 1, 1)"),
    names="(d_model - 2)",
)


@sinusoidal_encoding.wrong("only the angles", names="the angles, without")
def sinusoidal_encoding(length, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return angles.repeat_interleave(2, dim=1)


in_float32.wrong(
    "a positive exponent", swap("-torch", "torch"), names="a multiplication by"
)
in_float32.wrong(
    "positions in bfloat16",
    swap("torch.arange(length)", "torch.arange(length).bfloat16()"),
    names="only for small tables",
)
in_float32.wrong(
    "positions in half precision",
    swap("torch.arange(length)", "torch.arange(length).half()"),
    names="only for small tables",
)
in_float32.wrong(
    "positions in uint8",
    swap("torch.arange(length)", "torch.arange(length).to(torch.uint8)"),
    names="only for small tables",
)
in_float32.wrong(
    "a table with at most 512 rows",
    swap("torch.arange(length)", "torch.arange(length).clamp(max=511)"),
    names="only for small tables",
)
in_float32.wrong(
    "angles instead of sines for small angles",
    swap("angles.sin()", "torch.where(angles < 0.003, angles, angles.sin())"),
    swap(
        "torch.arange(length)[:, None] * rates",
        "torch.arange(length)[:, None] * rates * 1.0005",
    ),
    diagnosed=False,
)
in_float32.wrong(
    "a power of 2i that is infinite for many columns",
    swap(
        "10000.0 ** (-torch.arange(0, d_model, 2) / d_model)",
        "1 / (10000.0 ** torch.arange(0, d_model, 2).float()) ** (1 / d_model)",
    ),
    names="only for small tables",
)


@sinusoidal_encoding.wrong("one table for all calls")
def sinusoidal_encoding(length, d_model):
    tables = vars(sinusoidal_encoding)
    if (length, d_model) not in tables:
        rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(length)[:, None] * rates
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
        tables[length, d_model] = waves.flatten(1)
    return tables[length, d_model]


@sinusoidal_encoding.wrong("the table from the first call", names="more rows than")
def sinusoidal_encoding(length, d_model):
    tables = vars(sinusoidal_encoding)
    if len(tables.get(d_model, [])) < length:
        rates = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(length)[:, None] * rates
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
        tables[d_model] = waves.flatten(1)
    return tables[d_model]


in_float32.wrong(
    "zeros", body("return torch.zeros(length, d_model)"), names="zeros in all"
)


@sinusoidal_encoding.right("an exponential of a logarithm, and two slices")
def sinusoidal_encoding(length, d_model):
    table = torch.zeros(length, d_model)
    position = torch.arange(0, length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table


@sinusoidal_encoding.right("torch.pow, as in the formula")
def sinusoidal_encoding(length, d_model):
    pos = torch.arange(length, dtype=torch.float).unsqueeze(1)
    two_i = torch.arange(0, d_model, 2, dtype=torch.float)
    angle = pos / torch.pow(10000, two_i / d_model)
    return torch.stack((torch.sin(angle), torch.cos(angle)), dim=2).view(length, -1)


@sinusoidal_encoding.right("torch.outer")
def sinusoidal_encoding(length, d_model):
    rates = 10000 ** (-2 * torch.arange(d_model // 2) / d_model)
    angles = torch.outer(torch.arange(length).float(), rates)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(length, d_model)


in_float32.right(
    "complex numbers",
    swap(
        "stack([angles.sin(), angles.cos()], dim=-1)",
        "view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1)",
    ),
)


@sinusoidal_encoding.right("cosine as a shifted sine")
def sinusoidal_encoding(length, d_model):
    columns = torch.arange(d_model, dtype=torch.float64)
    rates = 10000.0 ** (-(columns - columns % 2) / d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.sin(angles + columns % 2 * math.pi / 2).float()


@sinusoidal_encoding.right("loops")
def sinusoidal_encoding(length, d_model):
    table = torch.empty(length, d_model)
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


@sinusoidal_encoding.right("a list of columns")
def sinusoidal_encoding(length, d_model):
    pos = torch.arange(length, dtype=torch.float32)
    columns = []
    for column in range(d_model):
        angle = pos * 10000 ** (-(column // 2 * 2) / d_model)
        columns.append(angle.cos() if column % 2 else angle.sin())
    return torch.stack(columns, dim=1)


# --- offset_matrix ----------------------------------------------------------------

offset_matrix = answer("transformer.analysis.positional.offset_matrix")
offset_matrix.with_faults("buffer state default")
offset_matrix.wrong(
    "a matrix that moves back", swap("sin, -", "-sin,"), names="moves back by k"
)
offset_matrix.wrong(
    "a matrix without the minus sign",
    swap("sin, -", "sin,"),
    names="without a minus sign",
)


@offset_matrix.wrong(
    "a matrix for sines and cosines in two halves", names="sines in the first half"
)
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(k * rates).diag(), torch.sin(k * rates).diag()
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])


offset_matrix.wrong(
    "a matrix that always moves by 1",
    swap("(k * rates), torch.sin(k * rates)", "(rates), torch.sin(rates)"),
    names="always moves by 1",
)
offset_matrix.wrong(
    "sine and cosine swapped", swap("cos, sin, -sin, cos", "sin, -cos, cos, sin")
)
offset_matrix.wrong(
    "the exponent 2·(2i)/d_model", swap("-torch", "-2 * torch"), names="is already 2i"
)
offset_matrix.wrong(
    "the exponent i/d_model",
    swap("0, d_model, 2", "d_model // 2"),
    names="is i, not 2i",
)
offset_matrix.wrong("the base 1000 instead of 10000", swap("10000.0", "1000.0"))


@offset_matrix.wrong(
    "the same block for all pairs", names="the same rate for all pairs"
)
def offset_matrix(k, d_model):
    block = torch.tensor([[math.cos(k), math.sin(k)], [-math.sin(k), math.cos(k)]])
    return torch.block_diag(*[block] * (d_model // 2))


offset_matrix.wrong(
    "the identity", body("return torch.eye(d_model, dtype=torch.float64)")
)


@offset_matrix.wrong("only the cosines")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.cos(k * rates).repeat_interleave(2).diag()


offset_matrix.wrong(
    "a multiplication instead of a division",
    swap("-torch", "torch"),
    names="a multiplication by",
)
offset_matrix.wrong(
    "a positive exponent in float32",
    swap("-torch", "torch"),
    swap(", dtype=torch.float64", ""),
    names="a multiplication by",
)
offset_matrix.wrong(
    "k with a factor 2π",
    swap("= 10000.0", "= 2 * 3.141592653589793 * 10000.0"),
    names="2π",
)
offset_matrix.wrong(
    "angles instead of their sines",
    swap("torch.sin(k * rates)", "k * rates"),
    names="instead of their sines",
)
offset_matrix.wrong(
    "zeros", body("return torch.zeros(d_model, d_model)"), names="zeros in all"
)
offset_matrix.wrong(
    "the constant identity in float32",
    body("return torch.eye(d_model)"),
    names="identity",
)


@offset_matrix.wrong(
    "results that are kept for each shape", names="kept from an earlier call"
)
def offset_matrix(k, d_model):
    matrices = vars(offset_matrix)
    if d_model not in matrices:
        rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        cos, sin = torch.cos(k * rates), torch.sin(k * rates)
        blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
        matrices[d_model] = torch.block_diag(*blocks)
    return matrices[d_model]


@offset_matrix.wrong("code that works only for k above 0", names="only for k above 0")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cos, sin = torch.cos(rates), torch.sin(rates)
    one = torch.block_diag(*torch.stack([cos, sin, -sin, cos], -1).view(-1, 2, 2))
    moved = torch.eye(d_model, dtype=torch.float64)
    for _ in range(k):
        moved = one @ moved
    return moved


@offset_matrix.right("entries that are set one by one")
def offset_matrix(k, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


@offset_matrix.right("two diagonals and strides")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    even = torch.arange(0, d_model, 2)
    matrix = torch.cos(k * rates).repeat_interleave(2).diag()
    matrix[even, even + 1] = torch.sin(k * rates)
    matrix[even + 1, even] = -torch.sin(k * rates)
    return matrix


@offset_matrix.right("a list of blocks")
def offset_matrix(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = k * 10000.0 ** (-2 * i / d_model)
        c, s = math.cos(a), math.sin(a)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)


offset_matrix.right(
    "a power of the matrix for one step",
    swap("torch.cos(k * rates), torch.sin(k * rates)", "rates.cos(), rates.sin()"),
    swap("block_diag(*blocks)", "linalg.matrix_power(torch.block_diag(*blocks), k)"),
)


@offset_matrix.right("the exponential of its generator")
def offset_matrix(k, d_model):
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    generator = torch.block_diag(*(rate * turn for rate in rates))
    return torch.linalg.matrix_exp(k * generator)


@offset_matrix.right("a Kronecker product with a permutation, in float32")
def offset_matrix(k, d_model):
    angles = k * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    return torch.kron(angles.cos().diag(), torch.eye(2)) + torch.kron(
        angles.sin().diag(), turn
    )


# --- SinusoidalPositionalEncoding -------------------------------------------------

SinusoidalPositionalEncoding = answer(
    "transformer.positional.SinusoidalPositionalEncoding"
)
SinusoidalPositionalEncoding.wrong(
    "pe[:x.size(0)] with a table (max_len, 1, d)",
    swap(
        "sinusoidal_encoding(max_len, d_model)",
        "sinusoidal_encoding(max_len, d_model).unsqueeze(1)",
    ),
    swap("self.table.size(-2)", "self.table.size(0)"),
    swap("start + x.size(1)]", "start + x.size(0)]"),
    names="counted along the batch",
)
sinusoidal = answer("transformer.positional.SinusoidalPositionalEncoding.forward")
sinusoidal.with_faults("kept buffer seed default detached written cpu")
sinusoidal.wrong(
    "pe[:x.size(0)] with a table (max_len, d)",
    swap(": start + x.size(1)", ": start + x.size(0)"),
    names="counted along the batch",
)
SinusoidalPositionalEncoding.wrong(
    "a trainable table",
    swap(
        "table = sinusoidal_encoding(max_len, d_model)",
        "self.table = nn.Parameter(sinusoidal_encoding(max_len, d_model))",
    ),
    drop('self.register_buffer("table", table, persistent=False)'),
)
SinusoidalPositionalEncoding.wrong(
    "a plain attribute",
    swap(
        'self.register_buffer("table", table, persistent=False)', "self.table = table"
    ),
    names="does not move with the layer",
)
SinusoidalPositionalEncoding.wrong(
    "a plain attribute that moves only to the dtype of x",
    swap(
        'self.register_buffer("table", table, persistent=False)', "self.table = table"
    ),
    swap("start + x.size(1)]", "start + x.size(1)].to(x.dtype)"),
    names="made on the CPU",
)


@SinusoidalPositionalEncoding.wrong(
    "a table of zeros, so that nothing is added", names="only the words"
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        global sinusoidal_encoding  # as if exercise 1 had been written so
        super().__init__()
        sinusoidal_encoding = torch.zeros

    def forward(self, x, start=0):
        return x


@SinusoidalPositionalEncoding.wrong(
    "an ignored start with a table of equal rows", diagnosed=False
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        global sinusoidal_encoding  # as if exercise 1 had been written so
        super().__init__()
        sinusoidal_encoding = torch.ones
        self.register_buffer("table", torch.ones(max_len, d_model))

    def forward(self, x, start=0):
        return x + self.table[: x.size(1)]


SinusoidalPositionalEncoding.wrong(
    "512 rows for every max_len",
    swap("sinusoidal_encoding(max_len, d_model)", "sinusoidal_encoding(512, d_model)"),
    names="with a fixed length",
)


@SinusoidalPositionalEncoding.wrong(
    "512 rows that repeat for later positions", names="a fixed length"
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        table = sinusoidal_encoding(512, d_model)
        self.register_buffer("table", table.repeat(2, 1), persistent=False)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)]


SinusoidalPositionalEncoding.wrong(
    "a learned table",
    swap(
        "table = sinusoidal_encoding(max_len, d_model)",
        "self.table = nn.Embedding(max_len, d_model)",
    ),
    drop('self.register_buffer("table", table, persistent=False)'),
    swap("self.table.size(-2)", "self.table.num_embeddings"),
    swap(
        "self.table[start : start + x.size(1)]",
        "self.table(torch.arange(start, start + x.size(1)))",
    ),
    names="a trainable table",
)
sinusoidal.wrong(
    "an ignored start",
    swap("start : start + x", ": x"),
    names="begin at 0 instead of `start`",
)
sinusoidal.wrong(
    "a sum that is scaled by √d_model",
    body("return (x + self.table[start : start + x.size(1)]) * math.sqrt(x.size(-1))"),
    names="the sum times √d_model",
)
sinusoidal.wrong(
    "words that are scaled a second time",
    swap("+ self", "* math.sqrt(x.size(-1)) + self"),
    names="a second time",
)
sinusoidal.wrong(
    "only the positions",
    body("return self.table[start : start + x.size(1)].expand_as(x)"),
    names="only the positions",
)
sinusoidal.wrong(
    "a product of words and positions",
    swap("+ self", "* self"),
    names="the product of words and positions",
)


@sinusoidal.wrong(
    "words and positions side by side", names="words and positions side by side"
)
def forward(self, x, start=0):
    positions = self.table[start : start + x.size(1)]
    return torch.cat([x, positions.expand_as(x)], dim=-1)


sinusoidal.wrong(
    "the same position for all words",
    swap("start : start + x.size(1)", "start"),
    names="the same position for all words",
)
sinusoidal.wrong(
    "the last word's position for all words",
    swap(": start + x.size(1)", "+ x.size(1) - 1"),
    names="the position of the last word",
)


@sinusoidal.wrong("positions that are counted from 1", names="counted from 1")
def forward(self, x, start=0):
    padded = torch.cat([self.table, self.table[-1:]])
    return x + padded[start + 1 : start + 1 + x.size(1)]


@sinusoidal.wrong(
    "words that are changed in place", names="an input is changed in place"
)
def forward(self, x, start=0):
    x += self.table[start : start + x.size(1)]
    return x


@sinusoidal.wrong("dropout in the layer", names="the result is random")
def forward(self, x, start=0):
    x = x + self.table[start : start + x.size(1)]
    return torch.nn.functional.dropout(x, 0.1)


sinusoidal.wrong(
    "a detached result",
    body("return (x + self.table[start : start + x.size(1)]).detach()"),
    names="the gradient is cut off",
)


@sinusoidal.wrong("the rows from the first call", names="begin at 0 instead of `start`")
def forward(self, x, start=0):
    t = x.size(1)
    if getattr(self, "rows", None) is None or len(self.rows) != t:
        self.rows = self.table[start : start + t]
    if t == 1:
        return x + self.table[start : start + 1]
    return x + self.rows if start == 0 else x + self.table[:t]


sinusoidal.wrong("zeros", body("return torch.zeros_like(x)"), names="zeros in all")
sinusoidal.wrong("the unchanged words", body("return x"), names="only the words")


@SinusoidalPositionalEncoding.right("a table (1, max_len, d), saved with the model")
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model)[None])

    def forward(self, x, start=0):
        return x + self.table[:, start : start + x.size(1)]


@SinusoidalPositionalEncoding.right(
    "a look-up in a buffer with the table of a frozen nn.Embedding"
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model))

    def forward(self, x, start=0):
        positions = torch.arange(start, start + x.shape[1], device=x.device)
        return torch.nn.functional.embedding(positions, self.table) + x


@SinusoidalPositionalEncoding.right(
    "a plain attribute that moves to the device of x at each call"
)
class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table[start : start + x.size(1)].to(x)


sinusoidal.right(
    "torch.narrow",
    body("return x + self.table.narrow(0, start, x.size(1)).unsqueeze(0)"),
)


@sinusoidal.right("copies of the rows for each sentence")
def forward(self, x, start=0):
    b, t, _ = x.shape
    positions = torch.arange(start, start + t, device=x.device).repeat(b, 1)
    return torch.add(x, self.table[positions])


@sinusoidal.right("a loop over the words")
def forward(self, x, start=0):
    words = [x[:, i] + self.table[start + i] for i in range(x.size(1))]
    return torch.stack(words, dim=1)


@sinusoidal.right("an in-place sum of a copy")
def forward(self, x, start=0):
    result = x.clone()
    result += self.table[start:][: x.size(1)]
    return result


# --- LearnedPositionalEncoding ----------------------------------------------------

learned = answer("transformer.positional.LearnedPositionalEncoding.forward")
learned.with_faults("kept seed default detached written cpu")
learned.wrong(
    "arange(x.size(0))",
    swap("(1), device=x.device", "(0)"),
    names="counted along the batch",
)
learned.wrong(
    "positions that are counted along the batch",
    body("return x + self.table(torch.arange(start, start + x.size(0))).unsqueeze(1)"),
    names="counted along the batch",
)
learned.wrong(
    "an ignored start",
    body("return x + self.table(torch.arange(x.size(1)))"),
    names="begin at 0 instead of `start`",
)
learned.wrong(
    "only the positions",
    body("return self.table(torch.arange(start, start + x.size(1))).expand_as(x)"),
    names="only the positions",
)


@learned.wrong("only the words", names="only the words")
def forward(self, x, start=0):
    self.table(torch.arange(start, start + x.size(1)))
    return x


learned.wrong(
    "a detached table",
    body("return x + self.table.weight.data[start : start + x.size(1)]"),
    names="the gradient is cut off",
)
learned.wrong(
    "detached words",
    body("return x.detach() + self.table(torch.arange(start, start + x.size(1)))"),
    names="the gradient is cut off",
)
learned.wrong(
    "a sum that is scaled by √d_model",
    swap(
        "return x + self.table(positions)",
        "return (x + self.table(positions)) * math.sqrt(x.size(-1))",
    ),
    names="the sum times √d_model",
)
learned.wrong(
    "the same position for all words",
    body("return x + self.table(torch.tensor(start))"),
    names="the same position for all words",
)
learned.wrong(
    "the last word's position for all words",
    body("return x + self.table(torch.tensor(start + x.size(1) - 1))"),
    names="the position of the last word",
)
learned.wrong(
    "the last rows of the table",
    body("return x + self.table.weight[-x.size(1) :]"),
    names="the last rows of the table",
)


@learned.wrong("sines instead of the table", names="sines instead of the learned")
def forward(self, x, start=0):
    table = sinusoidal_encoding(self.table.num_embeddings, x.size(-1))
    return x + table[start : start + x.size(1)]


@learned.wrong("words that are changed in place", names="an input is changed in place")
def forward(self, x, start=0):
    with torch.no_grad():
        x += self.table(torch.arange(start, start + x.size(1)))
    return x + 0 * self.table(torch.arange(start, start + x.size(1)))


learned.wrong(
    "row 511 for all later positions",
    swap("device=x.device)", "device=x.device).clamp(max=511)"),
    names="only for short tables",
)


learned.wrong(
    "dropout in training",
    body("""
        positions = torch.arange(start, start + x.size(1), device=x.device)
        summed = x + self.table(positions)
        return torch.nn.functional.dropout(summed, 0.1, self.training)
        """),
    names="random",
)
learned.wrong(
    "a first position without a gradient",
    body("""
        positions = torch.arange(start, start + x.size(1), device=x.device)
        rows = self.table(positions)
        first = (positions == 0).unsqueeze(1)
        return x + torch.where(first, rows.detach(), rows)
        """),
    names="with zeros for row 0",
)
learned.wrong("zeros", body("return torch.zeros_like(x)"), names="zeros in all")
learned.wrong("the unchanged words", body("return x"), names="only the words")
learned.right(
    "a slice of the weight",
    body("return x + self.table.weight[start : start + x.size(1)]"),
)


@learned.right("copies of the rows for each sentence")
def forward(self, x, start=0):
    batch_size, length = x.shape[:2]
    pos = torch.arange(0, length).unsqueeze(0).repeat(batch_size, 1).to(x.device)
    return x + self.table(pos + start)


@learned.right("one-hot positions times the matrix")
def forward(self, x, start=0):
    positions = torch.arange(start, start + x.size(1), device=x.device)
    one_hot = torch.nn.functional.one_hot(positions, self.table.num_embeddings)
    return x + one_hot.to(x.dtype) @ self.table.weight


@learned.right("F.embedding")
def forward(self, x, start=0):
    positions = start + torch.arange(x.size(-2), device=x.device)
    return torch.nn.functional.embedding(positions, self.table.weight) + x


@learned.right("a loop over the words")
def forward(self, x, start=0):
    rows = [self.table.weight[start + i] for i in range(x.size(1))]
    return x + torch.stack(rows)


@learned.right("a cumulative sum for the positions")
def forward(self, x, start=0):
    counted = torch.ones_like(x[..., 0], dtype=torch.long).cumsum(dim=1) - 1
    return x + self.table(counted + start)


LearnedPositionalEncoding = answer("transformer.positional.LearnedPositionalEncoding")


@LearnedPositionalEncoding.right("a different constructor with a plain parameter")
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.rows = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x, start=0):
        return x + self.rows[start : start + x.size(1)]


@LearnedPositionalEncoding.right(
    "a different constructor with the positions in a saved buffer"
)
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("positions", torch.arange(max_len))
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x, start=0):
        return x + self.table(self.positions[start : start + x.size(1)])


# --- answers that try to pass without solving the exercise ------------------------

answer("transformer.positional.SinusoidalPositionalEncoding.forward").wrong(
    "a layer that counts single words itself",
    body("""
    if x.size(1) == 1:
        start, self.next = getattr(self, "next", start), start + 1
    return x + self.table[start : start + x.size(1)]
    """),
    names="start",
    diagnosed=False,
)
answer("transformer.positional.LearnedPositionalEncoding.forward").wrong(
    "results that are kept for each tensor in evaluation",
    body("""
    rows = self.table.weight[start : start + x.size(1)]
    if self.training:
        return x + rows
    kept = self.__dict__.setdefault("kept", {})
    if (id(x), start) not in kept:
        kept[id(x), start] = x + rows, x
    return kept[id(x), start][0]
    """),
    names="a result kept from an earlier call",
)
