"""The vocabulary and the batches of torchtext, to which the course's must be equal."""

import random
from collections.abc import Sequence

from torchtext.data import (
    Batch,
    BucketIterator,
    Dataset,
    Example,
    Field,
    Iterator,
    RawField,
)

from transformer.data import SentencePair


def torchtext_field(sentences: Sequence[Sequence[str]], min_freq: int = 1) -> Field:
    """Return a field that numbers and pads, with the vocabulary of sentences."""
    field = Field(init_token="<sos>", eos_token="<eos>", batch_first=True)
    field.build_vocab(sentences, min_freq=min_freq)
    return field


def torchtext_batches(
    pairs: Sequence[SentencePair],
    size: int,
    seed: int | None,
    epoch: int,
    by_tokens: bool,
    by_length: bool,
) -> list[Batch]:
    """Return the batches of an epoch: `src`, `tgt` and `index`."""
    fields = [
        ("src", torchtext_field([pair.src for pair in pairs])),
        ("tgt", torchtext_field([pair.tgt for pair in pairs])),
        ("index", RawField()),
    ]
    rows = [[pair.src, pair.tgt, i] for i, pair in enumerate(pairs)]
    dataset = Dataset([Example.fromlist(row, fields) for row in rows], fields)
    # A BucketIterator sorts even where it should not shuffle.
    made = (Iterator if seed is None else BucketIterator)(
        dataset,
        size,
        sort_key=lambda one: (max(len(one.src), len(one.tgt)), len(one.src)),
        batch_size_fn=padded_tokens if by_tokens else None,
        shuffle=seed is not None,
        sort=False,
        sort_within_batch=by_length,
    )
    if seed is not None:
        state = random.Random(f"{seed}/{epoch}").getstate()
        made.random_shuffler.random_state = state
    made.init_epoch()
    return [Batch(list(group), dataset, "cpu") for group in made.batches]


def padded_tokens(example: Example, count: int, so_far: int) -> int:
    """Return the size of a batch once an example has joined it (torchtext's hook)."""
    longest = 0 if count == 1 else so_far // (count - 1)
    return count * max(longest, len(example.src) + 2, len(example.tgt) + 2)
