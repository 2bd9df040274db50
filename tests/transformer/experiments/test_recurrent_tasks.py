"""The experiments of unit 01 reach the figures that the chapter states."""

import pytest
import torch
from torch import Tensor

from transformer.data.reversal import make_reversal_pairs
from transformer.data.special_tokens import EOS_ID, PAD_ID, SOS_ID
from transformer.experiments.recurrent.tasks import (
    MARKER_ID,
    FitSettings,
    accuracy_by_length,
    make_marker_sentences,
    train_classifier,
    train_reversal,
)
from transformer.recurrent.attention import (
    AdditiveAttention,
    AttentionSeq2Seq,
    BiLSTMAttention,
    GeneralAttention,
    shift_right,
)
from transformer.recurrent.seq2seq import Seq2Seq

LENGTH, SYMBOLS, WIDTH = 12, 16, 64
WORDS = SYMBOLS + 4


def reversal(n_pairs: int, seed: int) -> tuple[Tensor, Tensor]:
    src, tgt = make_reversal_pairs(n_pairs, LENGTH, SYMBOLS, seed)
    return src, tgt[:, 1:]


def trained(model):
    src, tgt = reversal(20_000, seed=0)
    losses = train_reversal(model, src, shift_right(tgt, SOS_ID), tgt)
    assert losses[-1] < losses[0] / 2
    return model, accuracy_by_length(model, *reversal(500, seed=1))[LENGTH]


@pytest.mark.slow
def test_reversal_without_attention_is_a_bottleneck():
    torch.manual_seed(0)
    _, accuracy = trained(Seq2Seq(WORDS, WORDS, WIDTH))
    assert 0.2 < accuracy < 0.55


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["additive", pytest.param("general", marks=pytest.mark.slow)]
)
def test_reversal_with_attention_is_learned_on_the_anti_diagonal(kind):
    torch.manual_seed(0)
    attention = {
        "additive": lambda: AdditiveAttention(WIDTH, WIDTH, WIDTH),
        "general": lambda: GeneralAttention(WIDTH, WIDTH),
    }[kind]()
    model, accuracy = trained(AttentionSeq2Seq(WORDS, WORDS, attention, WIDTH))
    assert accuracy >= 0.95
    src, _ = reversal(200, seed=2)
    _, weights = model.greedy_decode(src, SOS_ID, EOS_ID, max_len=LENGTH)
    mirrored = torch.arange(LENGTH - 1, -1, -1)
    peak = weights.mean(dim=0).argmax(dim=-1)
    assert ((peak - mirrored).abs() <= 1).float().mean() >= 0.9


@pytest.mark.slow
def test_the_classifier_finds_the_marker():
    torch.manual_seed(0)
    model = BiLSTMAttention(MARKER_ID + 9, 8, 32, 32)
    ids, labels = make_marker_sentences(10_000, 20, 8, seed=0)
    losses = train_classifier(model, ids, labels)
    assert losses[-1] < 0.2 * losses[0]
    ids, labels = make_marker_sentences(1000, 20, 8, seed=1)
    with torch.no_grad():
        logits, weights = model(ids)
    assert (logits.argmax(dim=-1) == labels).float().mean() >= 0.95
    near = (weights.argmax(dim=-1) - (ids == MARKER_ID).int().argmax(dim=-1)).abs() <= 1
    assert near.float().mean() >= 0.9


def test_the_seed_alone_decides_the_losses():
    src, tgt = make_reversal_pairs(50, 3, 4, seed=0, min_length=1)
    runs = []
    for seed in (0, 0, 1):
        torch.manual_seed(0)
        model = Seq2Seq(8, 8, 6)
        settings = FitSettings(steps=5, batch_size=4, seed=seed)
        runs.append(train_reversal(model, src, tgt[:, :-1], tgt[:, 1:], settings))
    assert runs[0] == runs[1] != runs[2]
    assert len(set(runs[0])) == 5


@pytest.mark.parametrize("steps", [1, 2, 5, 400])
def test_the_learning_rate_rises_then_falls(steps):
    shares = [FitSettings(steps=steps).rate_share(step) for step in range(steps)]
    top = shares.index(1.0)
    assert shares[: top + 1] == sorted(shares[: top + 1])
    assert shares[top:] == sorted(shares[top:], reverse=True)
    assert min(shares) > 0 and max(shares) == 1.0


def test_padding_does_not_count_in_the_loss():
    src, tgt = make_reversal_pairs(50, 3, 4, seed=0, min_length=1)
    first = []
    for extra in (0, 4):
        torch.manual_seed(0)
        model = Seq2Seq(8, 8, 6)
        wider = torch.nn.functional.pad(tgt, (0, extra), value=PAD_ID)
        settings = FitSettings(steps=1, batch_size=4)
        losses = train_reversal(model, src, wider[:, :-1], wider[:, 1:], settings)
        first += losses
    assert first[0] == pytest.approx(first[1], rel=1e-6)


class Mirror:
    """Reverse every source perfectly, but for the first word if `wrong`."""

    def __init__(self, wrong: bool) -> None:
        self.wrong = wrong

    def greedy_decode(self, src, sos_id, eos_id, max_len):
        rows = []
        for row in src.tolist():
            words = [*[word for word in row if word != PAD_ID][::-1], eos_id]
            words[0] = 0 if self.wrong else words[0]
            rows.append(words + [PAD_ID] * (max_len - len(words)))
        width = max(row.index(eos_id) for row in rows) + 1
        return torch.tensor(rows)[:, :width], None


def test_accuracy_by_length_counts_words_and_the_end_token():
    src, tgt = make_reversal_pairs(60, 4, 5, seed=0, min_length=1)
    assert accuracy_by_length(Mirror(False), src, tgt[:, 1:]) == dict.fromkeys(
        range(1, 5), 1.0
    )
    one_wrong = accuracy_by_length(Mirror(True), src, tgt[:, 1:])
    assert one_wrong == pytest.approx({n: n / (n + 1) for n in range(1, 5)})


def test_marker_sentences_are_what_they_promise():
    ids, labels = make_marker_sentences(500, 6, 3, seed=0)
    again = make_marker_sentences(500, 6, 3, seed=0)
    assert torch.equal(ids, again[0]) and torch.equal(labels, again[1])
    lengths, places = set(), set()
    for row, label in zip(ids.tolist(), labels.tolist(), strict=True):
        words = [word for word in row if word != PAD_ID]
        assert row == words + [PAD_ID] * (6 - len(words))
        assert words.count(MARKER_ID) == 1
        place = words.index(MARKER_ID)
        assert words[place + 1] == MARKER_ID + 1 + label
        lengths.add(len(words))
        places.add(place)
    assert lengths == {3, 4, 5, 6} and places == {0, 1, 2, 3, 4}
    assert set(labels.tolist()) == {0, 1, 2}


def test_marker_sentences_need_room():
    with pytest.raises(ValueError, match="at least 3, found 2"):
        make_marker_sentences(5, 2, 3, seed=0)
