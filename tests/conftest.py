"""Settings that all tests share."""

import sys
from pathlib import Path

import torch

# What takes the guide's pictures drives Jupyter and a browser; so do tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "book"))

torch.set_num_threads(1)  # two threads on busy cores make tiny models far slower
