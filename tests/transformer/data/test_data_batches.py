"""Padded batches: complete, bucketed, and the same for the same seed and epoch."""

import random

import pytest
import torch
from torchtext_oracle import torchtext_batches

from transformer.data import (
    EOS_ID,
    PAD_ID,
    SOS_ID,
    Batch,
    Batches,
    SentencePair,
    check_device,
    make_batches,
    make_grammar_corpus,
    trim_padding,
)
from transformer.data.word_counts import build_vocabularies

PAIRS = make_grammar_corpus().train[:1_000]
WORDS = build_vocabularies(PAIRS)


def same(first: Batch, second: Batch) -> bool:
    """Tell whether two batches contain the same ids in the same order."""
    return (
        torch.equal(first.src, second.src)
        and torch.equal(first.tgt, second.tgt)
        and first.indices == second.indices
    )


def in_order(batches: Batches, epoch: int = 0) -> list[int]:
    """Return the positions of the pairs in the order of the batches."""
    return [i for batch in batches.epoch(epoch) for i in batch.indices]


@pytest.mark.parametrize("epoch", [0, 3])
@pytest.mark.parametrize(
    ("size", "options"),
    [
        (64, {"seed": None}),
        (64, {"seed": 3}),
        (7, {"seed": 3}),  # two pools of 100 batches
        (64, {"seed": 3, "by_length": False}),
        (400, {"seed": 3, "by_tokens": True}),
        (60, {"seed": 3, "by_tokens": True}),
        (60, {"seed": 3, "by_tokens": True, "by_length": False}),
        (400, {"seed": None, "by_tokens": True}),
    ],
)
def test_torchtext_gives_the_same_batches(size: int, options: dict, epoch: int) -> None:
    options = {"by_tokens": False, "by_length": True, **options}
    found = make_batches(PAIRS, WORDS, size, **options).epoch(epoch)
    expected = torchtext_batches(PAIRS, size, epoch=epoch, **options)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert same(one, Batch(other.src, other.tgt, tuple(other.index)))


@pytest.mark.parametrize("seed", [None, 3])
def test_every_pair_once_and_whole(seed: int | None) -> None:
    batches = make_batches(PAIRS, WORDS, 64, seed=seed)
    assert sorted(in_order(batches)) == list(range(len(PAIRS)))
    for batch in batches:
        assert batch.src.dtype == batch.tgt.dtype == torch.int64
        assert len(batch) == len(batch.src) == len(batch.tgt) <= 64
        for row, index in enumerate(batch.indices):
            pair = PAIRS[index]
            for ids, tokens, words in zip(
                (batch.src[row], batch.tgt[row]),
                (pair.src, pair.tgt),
                WORDS,
                strict=True,
            ):
                length = len(tokens) + 2
                assert ids[:length].tolist() == words.encode(tokens)
                assert (ids[length:] == PAD_ID).all()
                assert (ids[0], ids[length - 1]) == (SOS_ID, EOS_ID)


def test_no_batch_is_wider_than_its_longest_sentence() -> None:
    for batch in make_batches(PAIRS, WORDS, 32, seed=0):
        assert (batch.src != PAD_ID).sum(1).max() == batch.src.shape[1]
        assert (batch.tgt != PAD_ID).sum(1).max() == batch.tgt.shape[1]


def test_without_a_seed_the_order_is_the_given_one() -> None:
    batches = make_batches(PAIRS, WORDS, 64)
    assert in_order(batches) == in_order(batches, 5) == list(range(len(PAIRS)))


def test_the_order_is_a_function_of_seed_and_epoch() -> None:
    """It does not depend on earlier draws, so a resumed run sees the same batches."""
    first = make_batches(PAIRS, WORDS, 64, seed=1)
    for epoch in range(3):
        list(first.epoch(epoch))
    random.seed(99)
    torch.manual_seed(99)
    resumed = make_batches(PAIRS, WORDS, 64, seed=1)
    state = random.getstate()
    pairs = zip(first.epoch(3), resumed.epoch(3), strict=True)
    assert all(same(one, other) for one, other in pairs)
    assert random.getstate() == state
    assert in_order(first, 3) != in_order(first, 4)
    assert in_order(first, 3) != in_order(make_batches(PAIRS, WORDS, 64, seed=2), 3)


def test_two_epochs_can_be_open_at_once() -> None:
    batches = make_batches(PAIRS, WORDS, 64, seed=1)
    first, second = batches.epoch(0), batches.epoch(1)
    assert [i for b in first for i in b.indices] == in_order(batches, 0)
    assert [i for b in second for i in b.indices] == in_order(batches, 1)


def test_buckets_save_padding() -> None:
    def padding(batches: Batches) -> float:
        ids = [side for batch in batches for side in (batch.src, batch.tgt)]
        return sum((side == PAD_ID).sum().item() for side in ids)

    bucketed = make_batches(PAIRS, WORDS, 50, seed=0)
    assert padding(bucketed) < 0.5 * padding(make_batches(PAIRS, WORDS, 50))


def test_random_batches_are_of_all_lengths() -> None:
    """With bucketing, a batch's sentences have similar lengths. Without, batches do."""

    def widths(by_length: bool) -> set[int]:
        made = make_batches(PAIRS, WORDS, 50, seed=0, by_length=by_length)
        found = sorted(i for batch in made for i in batch.indices)
        assert found == list(range(len(PAIRS)))
        return {max(batch.src.size(1), batch.tgt.size(1)) for batch in made}

    assert max(widths(False)) - min(widths(False)) <= 4
    assert max(widths(True)) - min(widths(True)) >= 8


def test_lengths() -> None:
    batches = make_batches(PAIRS, WORDS, 300, seed=0)
    assert len(batches) == len(batches.epoch(2)) == 4
    assert len(list(batches)) == 4


def test_batches_by_tokens() -> None:
    batches = make_batches(PAIRS, WORDS, 400, seed=0, by_tokens=True)
    sizes = [max(batch.src.numel(), batch.tgt.numel()) for batch in batches]
    assert max(sizes) <= 400
    assert sorted(in_order(batches)) == list(range(len(PAIRS)))
    assert len(batches) == len(sizes)
    assert sum(sizes) / len(sizes) > 300


def test_a_single_pair() -> None:
    (batch,) = make_batches(PAIRS[:1], WORDS, 128, seed=0)
    assert batch.indices == (0,)


@pytest.mark.parametrize(
    ("pairs", "size", "options", "message"),
    [
        ([], 8, {}, "at least one sentence pair"),
        ([SentencePair((), ("a",))], 8, {}, "pair 0: .* in src"),
        ([PAIRS[0], SentencePair(("a",), ())], 8, {}, "pair 1: .* in tgt"),
        (PAIRS[:3], 0, {}, "at least 1 pair, found 0"),
        (PAIRS, 9, {"by_tokens": True}, "at least 16 tokens.*, found 9"),
        (PAIRS[:3], 8, {"device": "abacus"}, "such as 'cpu' or 'cuda', found 'abacus'"),
        (PAIRS[:3], 8, {"device": "cuda:77"}, "found 'cuda:77'"),
    ],
)
def test_wrong_arguments_are_refused(
    pairs: list, size: int, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_batches(pairs, WORDS, size, **options)


def test_device_of_the_batches() -> None:
    batch = next(iter(make_batches(PAIRS, WORDS, 8, device=torch.device("cpu"))))
    assert batch.src.device == batch.tgt.device == check_device("cpu")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_gets_the_same_batches() -> None:
    here = make_batches(PAIRS, WORDS, 64, seed=0)
    there = make_batches(PAIRS, WORDS, 64, seed=0, device="cuda")
    for one, other in zip(here, there, strict=True):
        assert other.src.is_cuda
        assert torch.equal(one.src, other.src.cpu())


def test_only_the_last_columns_are_trimmed_and_only_where_all_is_padding():
    ids = torch.tensor([[5, 1, 6, 1, 1], [7, 1, 1, 1, 1]])
    assert trim_padding(ids, 1).tolist() == [[5, 1, 6], [7, 1, 1]]
    assert torch.equal(trim_padding(ids, 0), ids)
    nothing = torch.ones(2, 3, dtype=torch.long)
    assert torch.equal(trim_padding(nothing, 1), nothing)
