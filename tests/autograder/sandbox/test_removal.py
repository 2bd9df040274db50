"""Built-ins are removed for good in a process that runs an answer without them."""

from collections.abc import Callable

import pytest
import torch

from autograder.checking.failures import StudentError, StudentGone
from autograder.sandbox.submission_runner import SubmissionRunner

NORM = ["torch.nn.LayerNorm", "torch.nn.functional.layer_norm"]
ATTENTION = ["torch.nn.MultiheadAttention"]
AUTOGRAD = ["torch.autograd", "torch.autograd.grad", "torch.Tensor.backward"]
LOOKUP = [*AUTOGRAD, "torch.ops.aten.embedding_dense_backward"]
BLEU = ["sacrebleu.corpus_bleu"]
USES = {
    "function": (NORM, "return F.layer_norm(x, x.shape[-1:])"),
    "class": (NORM, "return nn.LayerNorm(4)(x)"),
    "operator": (NORM, "return torch.native_layer_norm(x, (4,), None, None, 1e-5)[0]"),
    "reference": (NORM, "return refs.layer_norm(x, (4,))"),
    "another kind of tensor": (
        NORM,
        "one = torch.ones(4)\n"
        "    nested = torch.nested.nested_tensor([one[None], one[None]])\n"
        "    return torch.native_layer_norm(nested, (4,), one, one, 1e-5)[0].is_nested",
    ),
    "compiled": (NORM, "return torch.jit.trace(lambda y: G.layer_norm(y, (4,)), x)(x)"),
    "a runtime without the dispatcher": (
        NORM,
        "one = torch.jit.freeze(torch.jit.trace(nn.LayerNorm(4).eval(), x))\n"
        "    return torch._C._jit_to_static_module(one._c)(x)",
    ),
    "a graph for such a runtime": (
        NORM,
        "inner = torch.jit.trace(lambda y: G.layer_norm(y, (4,)), x).graph\n"
        "    graph = torch._C.Graph()\n"
        "    node = graph.create('prim::StaticSubgraph', [graph.addInput('x')], 1)\n"
        "    node.g_('Subgraph', inner)\n"
        "    graph.registerOutput(graph.insertNode(node).output())\n"
        "    return torch._C._create_function_from_graph('h', graph)(x)",
    ),
    "a decomposition": (
        ["torch.nn.functional.batch_norm"],
        "from torch._decomp.decompositions import native_batch_norm_helper as norm\n"
        "    return norm(x, None, None, None, None, True, 0.1, 1e-5, False)[0]",
    ),
    "attention of ONNX": (
        ["torch.nn.functional.scaled_dot_product_attention"],
        "from torch.onnx.ops._impl import attention_23\n"
        "    return attention_23(*[x[None]] * 3, qk_matmul_output_mode=1)[0]",
    ),
    "sparse gradient": (
        LOOKUP,
        "ids = torch.zeros(2, 3, dtype=torch.long)\n"
        "    return torch.ops.aten.embedding_sparse_backward(x, ids, 6, -1, False)",
    ),
    "node of a tensor": (AUTOGRAD, "return x.requires_grad_()[0].grad_fn(x[0])"),
    "node of a node": (
        AUTOGRAD,
        "Kept.apply(x.requires_grad_()[0])\n"
        "    return kept[-1].next_functions[0][0](x[0])",
    ),
    "thread": (
        NORM,
        "pool = ThreadPoolExecutor(1)\n"
        "    return pool.submit(F.layer_norm, x, (4,)).result()",
    ),
    "written in Python": (ATTENTION, "return nn.MultiheadAttention(4, 2)(x, x, x)[0]"),
    "part of one in Python": (
        ATTENTION,
        "w, b = torch.ones(12, 4), torch.ones(12)\n"
        "    return F.multi_head_attention_forward(\n"
        "        x, x, x, 4, 2, w, b, None, None, False, 0.0, w[:4], b[:4])[0]",
    ),
    "backward": (AUTOGRAD, "x.requires_grad_().sum().backward()"),
    "engine": (
        AUTOGRAD,
        "y = x.clone().requires_grad_()\n"
        "    engine = type(torch.autograd.Variable._execution_engine)()\n"
        "    return [*map(engine.run_backward, [(y.sum(),)], [(torch.ones(()),)],\n"
        "                 [False], [False], [(y,)])]",
    ),
    "forward mode": (AUTOGRAD, "return torch.func.jvp(torch.sin, (x,), (x,))"),
    "package": (
        BLEU,
        "import sacrebleu\n    return sacrebleu.corpus_bleu(['a'], [['a']])",
    ),
    "code of its file": (
        ATTENTION,
        "code = find_spec('torch.nn.functional').loader.get_code('torch.nn.functional')"
        "\n    one = next(c for c in code.co_consts\n"
        "               if 'multi_head_attention_forward' in str(c))\n"
        "    type(f)(one, vars(F))",
    ),
    "its code, renamed": (
        ATTENTION,
        "f.__code__.replace(co_filename='mine')",
    ),
    "its source": (ATTENTION, "return inspect.getsource(F)"),
    "its file by another name": (
        ATTENTION,
        "os.symlink(F.__file__, 'alias.py')\n    return len(open('alias.py').read())",
    ),
    "its file in PyTorch's hands": (
        ATTENTION,
        "return torch.from_file(F.__file__, False, 100, dtype=torch.uint8)",
    ),
    "what refuses": (
        ATTENTION,
        "for one in gc.get_objects():\n"
        "        if type(one).__name__ == 'function' and one.__name__ == 'hook':\n"
        "            one.__code__ = f.__code__",
    ),
    "another program": (ATTENTION, "return subprocess.run(['true']).returncode"),
}
IMPORTS = """
import gc, inspect, os, subprocess, sys
import torch, torch.nn.functional as F
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from torch import nn
import torch._refs.nn.functional as refs
G = F
kept = []
class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        kept.append(ctx)
        return x.clone()
"""


@pytest.mark.parametrize("use", USES)
def test_a_built_in_is_missing(use: str, remote: Callable[..., SubmissionRunner]):
    banned, body = USES[use]
    students = remote(f"{IMPORTS}\ndef f(x):\n    {body}")
    with students.fresh("any") as student:
        student.begin(3)
        student.f(torch.ones(2, 3, 4))  # the function works otherwise
    missing = student.without(banned)
    assert missing is not None
    with missing as without, pytest.raises((StudentError, StudentGone)):
        without.begin(3)
        without.f(torch.ones(2, 3, 4))


def test_everything_else_is_there(remote: Callable[..., SubmissionRunner]):
    body = """
import subprocess, torch, threading
from torch import nn
def f(x):
    x = x.clone().requires_grad_()
    layer = nn.Linear(4, 4)
    worker = threading.Thread(target=layer, args=(x,))
    worker.start()
    worker.join()
    (torch.softmax(layer(x), -1) @ x.transpose(1, 2)).sum().backward()
    return x.grad.shape == x.shape
"""
    with remote(body).fresh("any") as student:
        missing = student.without([*NORM, *ATTENTION, *BLEU])
    assert missing is not None
    with missing as without:
        without.begin(3)
        assert without.f(torch.ones(2, 3, 4)) is True


def test_a_tensor_with_a_gradient_can_be_printed(
    remote: Callable[..., SubmissionRunner],
):
    body = "import torch\ndef f(x): return str(x.requires_grad_() * 2)[:6]"
    with remote(body).fresh("any") as student:
        missing = student.without(AUTOGRAD)
    assert missing is not None
    with missing as without:
        without.begin(3)
        assert without.f(torch.ones(2)) == "tensor"


def test_the_built_in_that_was_needed_is_named(remote: Callable[..., SubmissionRunner]):
    body = "import torch\ndef f(x): return torch.layer_norm(x, x.shape[-1:])"
    with remote(body).fresh("any") as student:
        missing = student.without(NORM)
    assert missing is not None
    with missing as without:
        with pytest.raises(StudentError):
            without.f(torch.ones(2, 3, 4))
        assert without.removed == NORM[1]


def test_a_process_of_the_first_run_is_gone(remote: Callable[..., SubmissionRunner]):
    """The old process could answer in place of the removed function."""
    body = "import os\ndef f(): return os.getpid()"
    students = remote(body)
    with students, students.fresh("any") as student:
        kept = students._kept
        assert student.f() and kept is not None
        missing = student.without(NORM)
        assert missing is not None
        with missing as without:
            assert without.f() and students._kept is None
