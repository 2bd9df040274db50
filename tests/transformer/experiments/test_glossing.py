"""Glossing, the states of an encoder, and encoders with parts left out."""

import pytest
import torch

from transformer.analysis.encoder import drift
from transformer.config import TransformerConfig
from transformer.data import PAD_ID, RUNNING_EXAMPLE, Corpus, SentencePair
from transformer.encoder import Encoder, layer_states
from transformer.experiments.ablation import PartOfAddNorm, leave_out
from transformer.experiments.deep_stack import likeness
from transformer.experiments.fitting import FitSettings
from transformer.experiments.glossing import (
    NO_WORD,
    Glosser,
    gloss,
    gloss_words,
    make_gloss_task,
    share_of_right_glosses,
    train_glosser,
)
from transformer.feed_forward import AddNorm

ON = SentencePair(
    ("auf", "der", "bank"), ("on", "the", "bench"), ((0, 0), (1, 1), (2, 2))
)
IN = SentencePair(
    ("in", "der", "bank"), ("in", "the", "bank"), ((0, 0), (1, 1), (2, 2))
)
DOG = SentencePair(("der", "hund"), ("the", "dog"), ((0, 0), (1, 1)))
CORPUS = Corpus((ON, IN, DOG), (IN,), (ON,))
SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "dropout": 0.0}


def make_config(task=None, **changes) -> TransformerConfig:
    sizes = (9, 9) if task is None else map(len, task.vocabularies)
    return TransformerConfig(*sizes, **{**SIZES, **changes})


def test_a_gloss_says_what_each_word_became():
    pair = gloss(RUNNING_EXAMPLE)
    assert dict(zip(pair.src, pair.tgt, strict=True))["ruft"] == "calls"
    assert dict(zip(pair.src, pair.tgt, strict=True))["an"] == "calls"


def test_a_word_that_became_nothing_or_several_has_a_gloss_too():
    pair = SentencePair(("nicht", ",", "zum"), ("to", "the"), ((2, 0), (2, 1)))
    assert gloss(pair).tgt == (NO_WORD, NO_WORD, "to the")


def test_a_task_holds_the_sentences_asked_for_and_some_others():
    task = make_gloss_task(CORPUS, ["bank"], others=0)
    assert [pair.src for pair in task.train] == [ON.src, IN.src]
    assert len(make_gloss_task(CORPUS, ["bank"], others=1).train) == 3
    assert [pair.tgt for pair in task.test] == [IN.tgt, ON.tgt]
    src, tgt = task.numbered([ON, DOG])
    assert src.shape == tgt.shape == (2, 5)
    assert src[1, -1] == tgt[1, -1] == PAD_ID


def test_a_glosser_learns_what_bank_means_and_the_encoder_is_why():
    torch.manual_seed(0)
    task = make_gloss_task(CORPUS, ["bank"])
    model = Glosser(make_config(task), Encoder(make_config(task)))
    settings = FitSettings(steps=60, batch_size=8, learning_rate=0.01)
    losses = train_glosser(model, task, settings)
    assert losses[-1] < 0.1 < losses[0]
    assert gloss_words(model, task, [ON.src, DOG.src]) == [ON.tgt, DOG.tgt]
    assert share_of_right_glosses(model, task, "bank") == 1.0
    blind = Glosser(make_config(task), torch.nn.Module())
    blind.encoder.forward = lambda x, mask: x
    train_glosser(blind, task, settings)
    assert share_of_right_glosses(blind, task, "auf") == 1.0
    assert share_of_right_glosses(blind, task, "bank") <= 0.5


@pytest.mark.parametrize("norm_first", [False, True])
def test_states_lead_from_the_input_to_the_memory(norm_first):
    torch.manual_seed(0)
    encoder = Encoder(make_config(norm_first=norm_first))
    x, mask = torch.randn(3, 5, 16), torch.rand(3, 1, 1, 5) > 0.3
    states = layer_states(encoder, x, mask)
    assert len(states) == 3
    assert torch.equal(states[0], x)
    assert torch.equal(encoder.norm(states[-1]), encoder(x, mask))


def test_drift_is_0_1_2_for_the_same_a_right_and_the_opposite_direction():
    x = torch.tensor([[[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]]])
    y = torch.tensor([[[1.0, 0.0], [9.0, 0.0], [-4.0, 0.0]]])
    assert torch.allclose(drift([x, y])[1], torch.tensor([[0.0, 1.0, 2.0]]))
    assert torch.allclose(drift([x, y])[0], torch.zeros(1, 3))


@pytest.mark.parametrize("norm_first", [False, True])
def test_nothing_left_out_changes_nothing(norm_first):
    torch.manual_seed(0)
    encoder, x = Encoder(make_config(norm_first=norm_first)), torch.randn(2, 5, 16)
    whole = encoder(x)
    assert torch.equal(leave_out(encoder)(x), whole)


@pytest.mark.parametrize("norm_first", [False, True])
def test_each_part_can_be_left_out(norm_first):
    torch.manual_seed(0)
    around, x = AddNorm(16, norm_first=norm_first), torch.randn(2, 5, 16)
    halve = torch.nn.Linear(16, 16)
    normed = around.norm(x) if norm_first else x
    bare = PartOfAddNorm(around, residual=False, norm=False)
    assert torch.equal(bare(x, halve), halve(x))
    residual = PartOfAddNorm(around, residual=True, norm=False)
    assert torch.equal(residual(x, halve), x + halve(x))
    norm = PartOfAddNorm(around, residual=False, norm=True)
    wanted = halve(normed) if norm_first else around.norm(halve(x))
    assert torch.equal(norm(x, halve), wanted)


def test_leaving_out_reaches_every_layer():
    encoder = leave_out(Encoder(make_config()), residual=True)
    parts = [m for m in encoder.modules() if isinstance(m, PartOfAddNorm)]
    assert len(parts) == 4
    assert not any(isinstance(module, AddNorm) for module in encoder.modules())
    assert not any(part.residual for part in parts)


def test_likeness_is_1_for_equal_tokens_and_0_at_right_angles():
    same = torch.ones(2, 4, 16)
    assert likeness(same * torch.rand(2, 4, 1)) == pytest.approx(1.0)
    assert likeness(torch.eye(16)[None, :5]) == pytest.approx(0.0)
    mixed = torch.stack([same[0], torch.eye(16)[:4]])
    assert likeness(mixed) == pytest.approx(0.5)
