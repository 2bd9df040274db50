"""Settings that all tests share."""

import torch

torch.set_num_threads(1)  # two threads on busy cores make tiny models far slower
