"""A built-in that is the whole answer is found under each of its names."""

import time

import pytest

from autograder.checking.banned_calls import Unreadable, banned_use
from autograder.notebook_syntax import read_program

SDPA = "torch.nn.functional.scaled_dot_product_attention"
BANNED = [SDPA, "torch.nn.MultiheadAttention", "torch.nn.Transformer"]
BANNED += ["torch.nn.LayerNorm"]
SETUP = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
DIRECT = "def attend(q):\n    return {call}(q, q, q)\n"
FOUND = {
    "plain": DIRECT.format(call="F.scaled_dot_product_attention"),
    "in_full": DIRECT.format(call="torch.nn.functional.scaled_dot_product_attention"),
    "module_alias": "import torch.nn.functional as G\n"
    + DIRECT.format(call="G.scaled_dot_product_attention"),
    "name_alias": "from torch.nn import MultiheadAttention as M\n"
    + DIRECT.format(call="M(8, 2)"),
    "imported_inside": "def attend(q):\n    from torch.nn import functional as g\n"
    "    return g.scaled_dot_product_attention(q, q, q)\n",
    "star": "from torch.nn.functional import *\n"
    + DIRECT.format(call="scaled_dot_product_attention"),
    "assigned": "G = F\n" + DIRECT.format(call="G.scaled_dot_product_attention"),
    "assigned_twice": "G = F\nH = G\ncall = H.scaled_dot_product_attention\n"
    + DIRECT.format(call="call"),
    "assigned_inside": "def attend(q):\n    g = F\n"
    "    return g.scaled_dot_product_attention(q, q, q)\n",
    "annotated": "from typing import Any\ncall: Any = F.scaled_dot_product_attention\n"
    + DIRECT.format(call="call"),
    "tuple": "one, call = 1, F.scaled_dot_product_attention\n"
    + DIRECT.format(call="call"),
    "default_argument": "def attend(q, call=F.scaled_dot_product_attention):\n"
    "    return call(q, q, q)\n",
    "default_module": "def attend(q, *, f=F):\n    return f.layer_norm(q, q.shape)\n",
    "internal": DIRECT.format(call="torch._C._nn.scaled_dot_product_attention"),
    "operator": DIRECT.format(
        call="torch.ops.aten.scaled_dot_product_attention.default"
    ),
    "private": DIRECT.format(call="torch._scaled_dot_product_attention_math"),
    "native": DIRECT.format(call="torch.native_layer_norm"),
    "getattr": DIRECT.format(call='getattr(F, "scaled_dot_product_attention")'),
    "getattr_of_parts": DIRECT.format(
        call='getattr(F, "scaled_dot" + "_product_attention")'
    ),
    "getattr_by_variable": "name = 'scaled_dot_product_attention'\n"
    + DIRECT.format(call="getattr(F, name)"),
    "attrgetter": "from operator import attrgetter\n"
    + DIRECT.format(call="attrgetter('scaled_dot_product_attention')(F)"),
    "dict": DIRECT.format(call="F.__dict__['scaled_dot_product_attention']"),
    "vars": DIRECT.format(call="vars(F)['scaled_dot_product_attention']"),
    "module_by_name": "import importlib\n"
    + DIRECT.format(
        call="importlib.import_module('torch.nn').MultiheadAttention(8, 2)"
    ),
    "eval": DIRECT.format(call="eval('F.scaled_dot_product_attention')"),
    "exec": "def attend(q):\n    made = {}\n"
    "    exec('from torch.nn.functional import scaled_dot_product_attention as s', "
    "made)\n    return made['s'](q, q, q)\n",
    "helper": "def helper(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
    + DIRECT.format(call="helper"),
    "method": "class attend(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.inner = nn.MultiheadAttention(8, 2)\n",
    "subclass": "class attend(nn.MultiheadAttention):\n    pass\n",
    "put_in_later": "class attend(nn.Module):\n    def forward(self, q):\n"
    "        return q\nattend.forward = lambda self, q: nn.LayerNorm(8)(q)\n",
    "set_later": "class attend(nn.Module):\n    pass\n"
    "def new(self, q):\n    return nn.LayerNorm(8)(q)\n"
    "setattr(attend, 'forward', new)\n",
    "held_on_to": "def first(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
    "kept = first\ndef first(q):\n    return q\n" + DIRECT.format(call="kept"),
    "under_if": "if True:\n    def helper(q):\n        return nn.LayerNorm(8)(q)\n"
    + DIRECT.format(call="helper"),
    "of_the_kits_imports": "from transformer.attention import F as G\n"
    + DIRECT.format(call="G.scaled_dot_product_attention"),
    "decorator": "@nn.LayerNorm(8)\ndef attend(q):\n    return q\n",
    "self_that_is_none": "def attend(q):\n"
    "    return (lambda self: self.LayerNorm(8)(q))(nn)\n",
    "self_in_a_plain_function": "def helper(self, q):\n"
    "    return self.LayerNorm(8)(q)\n" + DIRECT.format(call="helper"),
    "imported_and_bound_again": "def attend(q):\n"
    "    from torch.nn import LayerNorm as f\n    f = f\n    return f(8)(q)\n",
    "bound_by_a_comprehension": "call = nn.LayerNorm(8)\ndef attend(q):\n"
    "    unused = [call for call in ()]\n    return call(q)\n",
    "given_to_a_comprehension": "calls = [nn.LayerNorm(8)]\ndef attend(q):\n"
    "    return [calls(q) for calls in calls][0]\n",
    "bound_by_another_function": "call = nn.LayerNorm(8)\ndef attend(q):\n"
    "    def other(call):\n        return call\n    return call(q)\n",
    "default_of_the_same_name": "call = nn.LayerNorm(8)\n"
    "def attend(q, call=call):\n    return call(q)\n",
    "said_to_be_global": "call = None\ndef attend(q):\n    global call\n"
    "    call = nn.LayerNorm(8)\n    return other(q)\n"
    "def other(q):\n    return call(q)\n",
    "global_of_a_cell": "call = nn.LayerNorm(8)\ndef attend(q):\n"
    "    call = None\n    def inner():\n        global call\n"
    "        return call(q)\n    return inner()\n",
}
OWN = "def scaled_dot_product_attention(q, k, v):\n    return q @ k @ v\n"
FINE = {
    "comment": "def attend(q):\n    # not F.scaled_dot_product_attention(q, q, q)\n"
    "    return q\n",
    "docstring": 'def attend(q):\n    """Be as F.scaled_dot_product_attention."""\n'
    "    return q\n",
    "message": "def attend(q):\n    if q is None:\n"
    "        raise ValueError('scaled_dot_product_attention needs q, as '\n"
    "                         'nn.MultiheadAttention does')\n    return q\n",
    "printed": "def attend(q):\n    print('scaled_dot_product_attention', q.shape)\n"
    "    return q\n",
    "unrelated_helper": "def compare(q):\n"
    "    return F.scaled_dot_product_attention(q, q, q) - attend(q)\n"
    "def attend(q):\n    return q\n",
    "helper_named_as_a_method": "def attention(q):\n"
    "    return F.scaled_dot_product_attention(q, q, q)\n"
    "class attend(nn.Module):\n    def forward(self, q):\n"
    "        return self.attention(q)\n    def attention(self, q):\n        return q\n",
    "cell_after": "def attend(q):\n    return q\n"
    "print((attend(1) == F.scaled_dot_product_attention).all())\n",
    "annotation": "def attend(q, like: nn.MultiheadAttention = None) -> nn.LayerNorm:\n"
    "    inner: nn.MultiheadAttention = like\n    return q\n",
    "own_function": OWN + "def attend(q):\n"
    "    return scaled_dot_product_attention(q, q, q)\n",
    "own_alias": OWN + "call = scaled_dot_product_attention\n"
    "def attend(q):\n    return call(q, q, q)\n",
    "own_class": "class LayerNorm(nn.Module):\n    pass\n"
    "class attend(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.layer_norm = LayerNorm()\n    def forward(self, q):\n"
    "        norm = self.layer_norm\n        return norm(self.layer_norm(q))\n",
    "the_kits": "from transformer.attention import scaled_dot_product_attention\n"
    "from transformer.feed_forward import LayerNorm as N\n"
    "import transformer.attention\n"
    "def attend(q):\n    q = N(8)(q)\n"
    "    q = transformer.attention.scaled_dot_product_attention(q, q, q)\n"
    "    return scaled_dot_product_attention(q, q, q)\n",
    "inner_function_of_its_own": "def attend(q):\n"
    "    def scaled_dot_product_attention(x):\n        return x\n"
    "    return scaled_dot_product_attention(q)\n",
    "local_name_of_a_built_in": "def attend(q):\n    LayerNorm = q.mean()\n"
    "    return q - LayerNorm\n",
    "self_of_the_method_in_a_lambda": "class attend(nn.Module):\n"
    "    def forward(self, q):\n"
    "        return self.add(q, lambda y: self.LayerNorm(y))\n",
    "getattr_of_its_own": "class attend(nn.Module):\n    def forward(self, q):\n"
    "        return getattr(self, 'layer_norm')(q)\n",
    "getattr_of_another": "def attend(q, activation='relu'):\n"
    "    return getattr(F, activation)(q)\n",
    "eval_mode": "def attend(q, model):\n    model.eval()\n    return q\n",
    "scratch_cell_with_a_name_of_the_answers": "inner = nn.MultiheadAttention(8, 2)\n"
    "output, weights = inner(1, 2, 3)\n"
    "def attend(q):\n    weights = q.softmax(-1)\n    return weights @ q\n",
    "scratch_cell_with_a_name_of_an_argument": "q = nn.LayerNorm(8)(1)\n"
    "def attend(q):\n    return [q + x for x in (1, 2)]\n",
    "scratch_cell_with_a_name_of_a_comprehension": "x = nn.LayerNorm(8)(1)\n"
    "def attend(q):\n    return sum(x for row in q for x in row if x)\n",
    "scratch_cell_with_a_name_of_an_inner_function": "w = nn.LayerNorm(8)(1)\n"
    "def attend(q):\n    w = 1\n    def inner():\n        return w\n"
    "    return q * inner()\n",
    "tried_before": "def attend(q):\n"
    "    return F.scaled_dot_product_attention(q, q, q)\n"
    "def attend(q):\n    return q\n",
    "parts": "class attend(nn.Module):\n    def forward(self, q):\n"
    "        return nn.functional.softmax(nn.Linear(8, 8)(q), dim=-1)\n",
    "mask_helper": "def attend(q):\n"
    "    return nn.Transformer.generate_square_subsequent_mask(8)\n",
}


@pytest.mark.parametrize("kind", FOUND)
def test_it_is_found(kind):
    assert banned_use(read_program([SETUP, FOUND[kind]]), "attend", BANNED)


@pytest.mark.parametrize("kind", FINE)
def test_there_is_no_false_alarm(kind):
    assert banned_use(read_program([SETUP, FINE[kind]]), "attend", BANNED) is None


@pytest.mark.parametrize("how", ["import helper", "from helper import inner as i"])
def test_a_file_that_a_cell_writes_is_read_too(how):
    written = "%%writefile helper.py\nimport torch.nn.functional as F\n"
    written += "def inner(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
    call = "helper.inner" if how == "import helper" else "i"
    cells = [written, f"{how}\n" + DIRECT.format(call=call)]
    assert banned_use(read_program(cells), "attend", BANNED) == SDPA
    unused = [written, f"{how}\ndef attend(q):\n    return q\n"]
    assert banned_use(read_program(unused), "attend", BANNED) is None


def test_the_one_that_was_used_is_named():
    cells = [SETUP, DIRECT.format(call="nn.MultiheadAttention(8, 2)")]
    assert banned_use(read_program(cells), "attend", BANNED) == BANNED[1]
    assert banned_use(read_program(cells), "attend", ["torch.softmax"]) is None


CHAINS = {
    "sum": "x = {}".format(" + ".join(['""'] * 600)),
    "in_code": "eval({})".format(" + ".join(['"a"'] * 600)),
    "by_name": "getattr(q, {})".format("str(" * 60 + "q" + ")" * 60),
    "attributes": "x = q" + ".a" * 600,
    "targets": "{} = q".format(" = ".join(f"a{n}" for n in range(3000))),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_reading_takes_time_in_proportion(kind):
    source = f"{CHAINS[kind]}\ndef attend(q):\n    {CHAINS[kind]}\n    return a1\n"
    started = time.process_time()
    program = read_program([SETUP, source])
    assert "attend" in program.definitions
    assert banned_use(program, "attend", BANNED) is None
    assert time.process_time() - started < 5


@pytest.mark.integration
def test_an_answer_too_large_to_be_read_is_refused():
    source = "def attend(q):\n    return [" + "1, " * 60_000 + "]\n"
    with pytest.raises(Unreadable):
        banned_use(read_program([source]), "attend", BANNED)
