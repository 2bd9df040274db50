"""Variants of the tiny unit."""

# ruff: noqa: F811

import torch
from torch import nn

from autograder.proof.variants import right, wrong


@right("a sum")
def double(x):
    return x + x


@right("torch.mul")
def double(x):
    return torch.mul(x, 2)


@wrong("the square", diagnosed=True)
def double(x):
    return x * x


@wrong("what went in", diagnosed=True)
def double(x):
    return x


@wrong("twice only")
def quadruple(x):
    return double(x)


@wrong("the weight is no parameter")
class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("weight", torch.ones(size))

    def forward(self, x):
        return x * self.weight


@wrong("adds", replaces="Scaler.forward")
def forward(self, x):
    return x + self.weight
