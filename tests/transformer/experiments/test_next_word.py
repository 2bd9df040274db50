"""The model that shows the effect of a mask, and the measure of influence."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.experiments.influence import influence
from transformer.experiments.next_word import (
    NextWordModel,
    Task,
    mirror_task,
    next_word_loss,
    share_right,
    train_next_word,
    write_on,
)
from transformer.masks import causal_mask

WORDS = ("der", "hund", "bellt")
SIZES = {"d_model": 32, "n_heads": 2, "n_layers": 2, "dropout": 0.0}


def make_model(**changes) -> NextWordModel:
    torch.manual_seed(0)
    return NextWordModel(TransformerConfig(7, 7, **{**SIZES, **changes}))


def look_back(ids: torch.Tensor) -> torch.Tensor:
    return causal_mask(ids.size(1))


def look_everywhere(ids: torch.Tensor) -> None:
    return None


def test_influence_is_the_norm_of_each_block_of_derivatives():
    matrix = torch.tensor([[2.0, 0.0], [3.0, 4.0]])
    reach = influence(lambda x: matrix @ x, torch.randn(2, 9))
    assert torch.allclose(reach, 3 * matrix)  # the norm of the 9 by 9 identity is 3


def test_what_comes_later_reaches_nothing_through_a_causal_mask():
    model = make_model().eval()
    reach = influence(lambda x: model.mix(x, causal_mask(5)), torch.randn(5, 32))
    assert (reach.triu(1) == 0).all()
    assert (reach.tril() > 0).sum() == 15


def test_a_mask_off_by_one_leaks_one_token_a_layer():
    ones = torch.ones(1, 1, 6, 6, dtype=torch.bool)
    for n_layers in (1, 3):
        model = make_model(n_layers=n_layers).double().eval()
        x = torch.randn(6, 32, dtype=torch.float64)
        reach = influence(lambda x, m=model: m.mix(x, ones.tril(1)), x)
        assert (reach.triu(n_layers + 1) == 0).all()
        assert (reach.diagonal(n_layers) > 0).all()


def test_a_mirror_task_holds_sentences_and_their_mirror_images():
    task = mirror_task(WORDS, 4, 5, seed=0)
    assert task.sentences.shape == (5, 10)
    assert task.given == 5
    assert len(task) == 5
    for row in task.sentences:
        assert row[4:6].tolist()[0] == 2
        assert row[5:9].tolist() == row[:4].flip(0).tolist()
    words = task.spell(task.sentences[0]).split()
    assert words[4] == "<sos>"
    assert words[-1] == "<eos>"
    assert set(words[:4]) <= set(WORDS)


def test_loss_looks_at_the_words_to_be_written_alone():
    task, model = mirror_task(WORDS, 4, 3, seed=0), make_model()
    logits = model(task.sentences[:, :-1], look_back(task.sentences[:, :-1]))[:, 4:]
    log_p = logits.log_softmax(-1).gather(-1, task.sentences[:, 5:, None])
    assert torch.allclose(next_word_loss(model, task, look_back), -log_p.mean())


@pytest.mark.integration
def test_with_the_mask_it_writes_and_without_it_only_copies():
    words = tuple("abcdefghijklm")
    lessons, exam = (mirror_task(words, 8, n, seed=n) for n in (6400, 50))
    right = {}
    for make_mask in (look_back, look_everywhere):
        torch.manual_seed(0)
        sizes = {**SIZES, "d_model": 64, "positions": "sinusoidal"}
        model = NextWordModel(TransformerConfig(17, 17, **sizes))
        losses = train_next_word(model, lessons, make_mask)
        assert losses[-1] < 0.1 < losses[0]
        right[make_mask] = share_right(write_on(model, exam, make_mask), exam)
    assert right[look_back] > 0.7
    assert right[look_everywhere] < 0.05


def test_writing_begins_with_what_is_given_alone():
    task, model = mirror_task(WORDS, 4, 3, seed=0), make_model()
    blank = Task(task.sentences.clone(), task.given, task.words)
    blank.sentences[:, task.given :] = 0  # the model must not see the answers
    written = write_on(model, task, look_back)
    assert written.shape == (3, 5)
    assert torch.equal(written, write_on(model, blank, look_back))
    assert share_right(task.sentences[:, task.given :], task) == 1.0
