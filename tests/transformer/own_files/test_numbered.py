"""Numbered sentences return unchanged from disk, and batches lose none of them."""

import pytest
import torch

from transformer.data import (
    EOS_ID,
    PAD_ID,
    SOS_ID,
    Subwords,
    detokenize,
    learn_subwords,
    make_grammar_corpus,
    share_subwords,
)
from transformer.own_files.batches import FileBatches
from transformer.own_files.numbered import NumberedPairs, number_pairs

TEXTS = [
    (detokenize(pair.src), detokenize(pair.tgt))
    for pair in make_grammar_corpus().train[:203]
]


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return learn_subwords((text for pair in TEXTS for text in pair), 400)


@pytest.fixture(scope="module")
def numbered(subwords, tmp_path_factory) -> NumberedPairs:
    folder = tmp_path_factory.mktemp("numbered")
    assert number_pairs(TEXTS, subwords, folder, "train", 100) == []
    return NumberedPairs(folder, "train")


def test_pairs_come_back(numbered, subwords):
    vocabulary = share_subwords(subwords)[0]
    assert len(numbered) == len(TEXTS)
    for number, pair in zip((202, 0, 77), numbered.read([202, 0, 77]), strict=True):
        for ids, text in zip(pair, TEXTS[number], strict=True):
            assert (ids[0], ids[-1]) == (SOS_ID, EOS_ID)
            assert vocabulary.join(vocabulary.decode(ids.astype(int))) == text


def test_long_pairs_are_left_out_and_named(subwords, tmp_path):
    lengths = [max(len(subwords.split(side)) + 2 for side in pair) for pair in TEXTS]
    longest = sorted(lengths)[100]
    left_out = number_pairs(TEXTS, subwords, tmp_path, "train", longest)
    assert left_out == [i for i, n in enumerate(lengths, start=1) if n > longest]
    kept = NumberedPairs(tmp_path, "train")
    assert len(kept) + len(left_out) == len(TEXTS)
    assert kept.lengths.max() == longest


def test_files_that_do_not_belong_together(subwords, tmp_path):
    number_pairs(TEXTS, subwords, tmp_path, "train", 100)
    path = tmp_path / "train.ids"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ValueError, match=r"train\.ids is damaged"):
        NumberedPairs(tmp_path, "train")


@pytest.mark.parametrize(("size", "by_tokens"), [(16, False), (300, True)])
def test_every_pair_comes_once_in_each_epoch(numbered, size, by_tokens):
    batches = FileBatches(numbered, size, seed=3, by_tokens=by_tokens)
    for number in (0, 1):
        epoch = batches.epoch(number)
        seen = []
        for batch in epoch:
            longest = max(batch.src.shape[1], batch.tgt.shape[1])
            used = len(batch) * longest if by_tokens else len(batch)
            assert used <= size
            seen += batch.indices
        assert sorted(seen) == list(range(len(TEXTS)))
        assert len(epoch) < len(TEXTS) / 4


def test_a_batch_holds_its_pairs_padded(numbered):
    batch = next(iter(FileBatches(numbered, 16, seed=3)))
    for row, number in enumerate(batch.indices):
        for side, ids in zip(
            (batch.src, batch.tgt), numbered.read([number])[0], strict=True
        ):
            assert side[row, : len(ids)].tolist() == ids.tolist()
            assert (side[row, len(ids) :] == PAD_ID).all()
    assert batch.src.dtype == torch.int64


def order(numbered: NumberedPairs, seed: int | None, number: int) -> list[tuple]:
    epoch = FileBatches(numbered, 16, seed=seed).epoch(number)
    return [batch.indices for batch in epoch]


def test_the_order_is_a_function_of_seed_and_epoch(numbered):
    assert order(numbered, 3, 1) == order(numbered, 3, 1)
    assert order(numbered, 3, 1) != order(numbered, 3, 0)
    assert order(numbered, 3, 1) != order(numbered, 4, 1)
    assert order(numbered, None, 1) == order(numbered, None, 0)


def test_similar_lengths_come_together(numbered):
    together = padding(FileBatches(numbered, 16, seed=3))
    apart = padding(
        [Slice(numbered, range(i, min(i + 16, 203))) for i in range(0, 203, 16)]
    )
    assert together < apart / 2


def padding(batches) -> int:
    return sum(int((batch.tgt == PAD_ID).sum()) for batch in batches)


class Slice:
    def __init__(self, pairs: NumberedPairs, numbers: range) -> None:
        targets = [torch.tensor(t.astype(int)) for _, t in pairs.read(numbers)]
        self.tgt = torch.nn.utils.rnn.pad_sequence(targets, True, PAD_ID)


def test_batches_that_are_too_small(numbered):
    longest = int(numbered.lengths.max())
    with pytest.raises(ValueError, match=f"at least {longest} tokens"):
        FileBatches(numbered, longest - 1, by_tokens=True)
    with pytest.raises(ValueError, match="at least 1 pair, found 0"):
        FileBatches(numbered, 0)


def test_negative_seeds_are_seeds(numbered):
    assert order(numbered, -1, 0) != order(numbered, 1, 0)
