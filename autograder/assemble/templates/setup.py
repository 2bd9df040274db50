"""Template of the set-up cell of every notebook; names between @ are filled in."""

# Run this cell first: it finds the course's code; on Colab, it downloads the code.
import os
import subprocess
import sys
from importlib import import_module, invalidate_caches
from importlib.util import find_spec

UNIT, COURSE = "@unit@", "@repository@"
PACKAGES = {  # what this notebook needs, and for what
    # @packages@
}
FETCH = f"""set -e
[ -d {UNIT} ] || git clone -q --depth 1 --filter=blob:none --sparse -b @branch@ \\
    {COURSE} {UNIT}
git -C {UNIT} sparse-checkout set assignments/{UNIT}"""

on_colab = find_spec("google") and find_spec("google.colab")
if on_colab and not os.path.isdir("@package@"):
    fetched = subprocess.run(FETCH, shell=True, capture_output=True, text=True)
    if fetched.returncode:
        raise RuntimeError(f"{fetched.stderr}\nCheck the network, then run this again.")
    os.chdir(f"{UNIT}/assignments/{UNIT}")
    sys.path.insert(0, os.getcwd())  # Colab's own path may hold /content alone
missing = [name for name in PACKAGES if not find_spec(name)]
if on_colab and missing:
    subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", *missing])
    invalidate_caches()
elif missing:
    uses = ", ".join(f"{name} ({PACKAGES[name]})" for name in missing)
    raise ModuleNotFoundError(
        f"This notebook needs {uses}. Run `%pip install {' '.join(missing)}` in a new "
        "cell, then run this cell again."
    )
if not find_spec("@package@"):
    raise ModuleNotFoundError(
        "The folder `@package@` is not next to this notebook. Get the whole folder "
        f"assignments/{UNIT} from {COURSE} and open the notebook in it."
    )

if find_spec("@package@.explained_errors"):  # names the cause above an error
    import_module("@package@.explained_errors").explain_errors("en")

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(f"{UNIT} is set up: PyTorch {torch.__version__} on {device}.")
if on_colab:
    print("Keep your work: choose File > Save a copy in Drive. Then Colab saves it.")
