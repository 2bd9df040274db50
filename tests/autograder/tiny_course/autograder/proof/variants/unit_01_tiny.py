"""Variants of the tiny unit."""

import torch
from torch import nn

from autograder.proof.variants import answer, body, swap

double = answer("tiny.scaling.double")
double.right("a sum", body("return x + x"))


@double.right("torch.mul")
def double(x):
    return torch.mul(x, 2)


double.wrong("the square", swap("FACTOR * x", "x * x"))
double.wrong("what went in", swap("FACTOR * x", "x"))

quadruple = answer("tiny.scaling.quadruple")
quadruple.wrong("twice only", swap("double(double(x))", "double(x)"), diagnosed=False)

Scaler = answer("tiny.scaling.Scaler")


@Scaler.wrong("the weight is no parameter", diagnosed=False)
class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("weight", torch.ones(size))

    def forward(self, x):
        return x * self.weight


forward = answer("tiny.scaling.Scaler.forward")
forward.wrong("adds", swap("x * self", "x + self"), diagnosed=False)
