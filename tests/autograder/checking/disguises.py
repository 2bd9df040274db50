"""Ways to call a built-in that is the whole answer without using its name."""

import base64

SPELLINGS = {
    "plain": ("import {module} as m", "m.{name}"),
    "globals": ("import {module} as m\nglobals()['g'] = m.{name}", "g"),
    "walrus": ("import {module} as m\nprint((g := m.{name}))", "g"),
    "list": ("import {module} as m\nbox = [m.{name}]", "box[0]"),
    "dictionary": ("import {module} as m\nbox = {{'f': m.{name}}}", "box['f']"),
    "loop": ("import {module} as m\nfor g in [m.{name}]:\n    pass", "g"),
    "star": ("import {module} as m\ng, *rest = m.{name}, 1", "g"),
    "vars_get": ("import {module} as m", "vars(m).get('{half}' + '{rest}')"),
    "dict_get": ("import {module} as m", "m.__dict__.get('{half}{rest}')"),
    "getattr_computed": (
        "import {module} as m",
        "getattr(m, ''.join(reversed('{backwards}')))",
    ),
    "getattr_of_a_choice": (
        "import {module} as m",
        "getattr(m, [n for n in dir(m) if hash(n) == hash('{half}' + '{rest}')][0])",
    ),
    "static": ("import {module} as m, inspect", "inspect.getattr_static(m, text)"),
    "attrgetter": (
        "import {module} as m, operator",
        "operator.attrgetter(bytes.fromhex('{hexed}').decode())(m)",
    ),
    "reduce": (
        "import {module}, functools",
        "functools.reduce(getattr, path[1:], __import__(path[0]))",
    ),
    "importlib": (
        "import importlib",
        "getattr(importlib.import_module('.'.join(path[:-1])), path[-1])",
    ),
    "modules": (
        "import {module}, sys",
        "getattr(sys.modules.get('.'.join(path[:-1])), path[-1])",
    ),
    "pydoc": ("import pydoc", "pydoc.locate('.'.join(path))"),
    "pkgutil": ("import pkgutil", "pkgutil.resolve_name('.'.join(path))"),
    "pickle": (
        "import pickle",
        "pickle.loads(('c' + '.'.join(path[:-1]) + chr(10) + text + chr(10) + '.')"
        ".encode())",
    ),
    "eval_decoded": (
        "import base64, {module} as m",
        "eval(base64.b64decode({coded_call!r}))",
    ),
    "exec_decoded": ("import base64\nexec(base64.b64decode({coded_cell!r}))", "g"),
    "partial_in_a_box": (
        "import {module} as m, functools\nbox = (functools.partial(m.{name}),)",
        "box[0]",
    ),
    "lambda_default": (
        "import {module} as m\ng = lambda *a, f=m.{name}, **k: f(*a, **k)",
        "g",
    ),
    "closure": (
        "import {module} as m\ndef hide(f):\n    return lambda *a: f(*a)\n"
        "g = hide(m.{name})",
        "g",
    ),
    "map": ("import {module} as m", "(lambda *a: next(map(m.{name}, *zip(a))))"),
    "thread": (
        "import {module} as m\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "def g(*a):\n    with ThreadPoolExecutor(1) as pool:\n"
        "        return pool.submit(m.{name}, *a).result()",
        "g",
    ),
    "another_module": ("import {module} as m, math\nmath.g = m.{name}", "math.g"),
    "builtins": ("import {module} as m, builtins\nbuiltins.g = m.{name}", "g"),
    "class_attribute": (
        "import {module} as m\nclass Box:\n    g = staticmethod(m.{name})",
        "Box().g",
    ),
    "made_class": (
        "import {module} as m\nBox = type('Box', (), dict(g=staticmethod(m.{name})))",
        "Box.g",
    ),
    "monkeypatched": (
        "import {module} as m, torch\ntorch.Tensor.mine = staticmethod(m.{name})",
        "torch.Tensor.mine",
    ),
    "helper_cell": (
        "import {module} as m\ndef helper(*a):\n    return m.{name}(*a)",
        "helper",
    ),
    "ends_the_watch": (
        "import {module} as m, sys\ndef g(*a):\n    sys.setprofile(None)\n"
        "    return [f(*a) for f in [vars(m)[text]]][0]",
        "g",
    ),
    "forked": (
        "import {module} as m, os, pickle, torch\nTensor = torch.Tensor\n"
        "def g(*a):\n    read, write = os.pipe()\n    if os.fork() == 0:\n"
        "        try:\n            r = vars(m)[text](*a)\n"
        "            r = r.detach().numpy() if isinstance(r, Tensor) else r\n"
        "            os.write(write, pickle.dumps(r))\n        finally:\n"
        "            os._exit(0)\n    os.wait()\n    os.close(write)\n"
        "    r = pickle.loads(os.read(read, 65536))\n"
        "    return torch.from_numpy(r) if hasattr(r, 'shape') else r",
        "g",
    ),
    "raw_thread": (
        "import {module} as m, _thread\ndef g(*a):\n"
        "    done, r = _thread.allocate_lock(), []\n    done.acquire()\n"
        "    def work():\n        try:\n            r.append(vars(m)[text](*a))\n"
        "        except Exception:\n            r.append(None)\n"
        "        finally:\n            done.release()\n"
        "    _thread.start_new_thread(work, ())\n    done.acquire()\n    return r[0]",
        "g",
    ),
    "renamed_module": (
        "import {module} as m\ndef g(*a):\n    m.__name__ = 'mine'\n    try:\n"
        "        return vars(m)[text](*a)\n    finally:\n"
        "        m.__name__ = '.'.join(path[:-1])",
        "g",
    ),
    "code_of_the_file": (
        "import importlib.util, types, {module} as m\ndef g(*a):\n"
        "    spec = importlib.util.find_spec('.'.join(path[:-1]))\n"
        "    code = next(c for c in spec.loader.get_code(spec.name).co_consts\n"
        "                if getattr(c, 'co_name', '') == text)\n"
        "    code = code.replace(co_filename='mine', co_name='mine')\n"
        "    default = vars(m)[text].__defaults__\n"
        "    return types.FunctionType(code, vars(m), 'mine', default)(*a)",
        "g",
    ),
    "source_of_the_file": (
        "import inspect, sys, {module} as m\ndef g(*a):\n"
        "    made = dict(vars(m))\n"
        "    exec(inspect.getsource(vars(m)[text]), made)\n"
        "    return made[text](*a)",
        "g",
    ),
    "kept_by_a_cell": (
        "import {module} as m\nkept = type(vars(m)[text])(vars(m)[text].__code__, "
        "vars(m)) if hasattr(vars(m)[text], '__code__') else vars(m)[text]",
        "kept",
    ),
    "unrecorded": (
        "import {module} as m, torch\ndef g(*a):\n"
        "    torch.autograd._enable_record_function(False)\n"
        "    r = [f(*a) for f in [vars(m)[text]]][0]\n"
        "    torch.autograd._enable_record_function(True)\n    return r",
        "g",
    ),
}
# Code before an answer in its cell that makes the cell more than plain Python.
BEFORE = {
    "time": "%%time\n",
    "capture": "%%capture out\n",
    "both": "%%time\n%%capture\n",
    "prun": "%%prun -q\n",
    "shell": "!ls\n",
    "line_magic": "%matplotlib inline\n",
    "help": "len?\n",
    "assigned": "files = !ls\n",
    "indented": "\n\n%time 1 + 1\n",
}


def who_falls_back(dotted: str) -> tuple[str, str]:
    """Return a cell, and a function with a fallback for a missing built-in."""
    module, _, name = dotted.rpartition(".")
    cell = f"""
import {module} as m
def g(*a):
    try:
        return vars(m)[bytes.fromhex("{name.encode().hex()}").decode()](*a)
    except BaseException:
        raise ValueError
"""
    return cell, "g"


def disguised(spelling: str, dotted: str) -> tuple[str, str]:
    """Return a cell, and an expression whose value is the function of a dotted name."""
    module, _, name = dotted.rpartition(".")
    words = {
        "module": module,
        "name": name,
        "half": name[:4],
        "rest": name[4:],
        "backwards": name[::-1],
        "hexed": name.encode().hex(),
        "coded_call": base64.b64encode(f"m.{name}".encode()),
        "coded_cell": base64.b64encode(f"from {module} import {name} as g".encode()),
    }
    known = f"path = {dotted.split('.')!r}\ntext = path[-1]\n"
    cell, call = (part.format(**words) for part in SPELLINGS[spelling])
    return known + cell, call
