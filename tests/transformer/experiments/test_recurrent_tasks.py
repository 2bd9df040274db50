"""The tasks of unit 01: data, learning rate and accuracy. Chapter 01 trains on them."""

import pytest
import torch

from transformer.data.reversal import make_reversal_pairs
from transformer.data.special_tokens import PAD_ID
from transformer.experiments.recurrent.tasks import (
    MARKER_ID,
    FitSettings,
    accuracy_by_length,
    make_marker_sentences,
    train_reversal,
)
from transformer.recurrent.seq2seq import Seq2Seq


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
    """Reverse every source perfectly, except for the first word if `wrong`."""

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
