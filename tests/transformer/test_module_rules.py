"""The check of a module's rules passes right modules and names broken rules."""

import pytest
import torch
from torch import nn

from transformer.analysis.module_rules import require_module_rules


class Right(nn.Module):
    """Project two inputs and multiply them, with dropout in training."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x, y):
        return self.dropout(self.first(x) * self.second(y)), None


class OneWeightTooMany(Right):
    def forward(self, x, y):
        return self.first(x) * self.first(y)


class SwitchesDropoutOff(Right):
    def forward(self, x, y):
        self.dropout.eval()
        return super().forward(x, y)


class KeepsTheFirstKey(Right):
    def forward(self, x, y):
        if not hasattr(self, "key") or self.key.shape != y.shape:
            self.key = self.second(y)
        return self.first(x) * self.key


class MixesSentences(Right):
    def forward(self, x, y):
        return self.first(x) * self.second(y).flip(0)


class MakesFloats(Right):
    def forward(self, x, y):
        return super().forward(x, y)[0].float()


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (OneWeightTooMany, "does not depend on these weights: second.weight"),
        (SwitchesDropoutOff, "changes the mode"),
        (KeepsTheFirstKey, "the values are wrong"),
        (MixesSentences, "let no item of a batch use the data of another"),
        (MakesFloats, "give a torch.float32 result"),
    ],
)
def test_a_broken_rule_of_a_module_is_named(kind, named):
    module = kind().eval()
    with pytest.raises(AssertionError, match=named):
        require_module_rules(module, torch.randn(3, 4), torch.randn(3, 4))


def test_a_right_module_passes_and_keeps_its_weights_and_mode():
    module = Right().eval()
    before = [x.clone() for x in module.parameters()]
    require_module_rules(module, torch.randn(3, 4), torch.randn(3, 4))
    assert not module.training
    assert all(map(torch.equal, before, module.parameters()))
    assert {x.device.type for x in module.parameters()} == {"cpu"}
