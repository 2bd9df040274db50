"""Hidden checks of unit 02: vocabulary, one-hot, lookup gradient, embedding, tying."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_parts,
)
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import expect_double
from autograder.checking.varied_inputs import SOME_SIZES, orders_of
from autograder.phrases import Phrase
from transformer.analysis import embeddings as reference

B, T, V, D = 3, 4, 11, 6
MANY = 700  # rows of a table: more than code may assume
SPECIALS = ["<unk>", "<pad>", "<sos>", "<eos>"]
WORDS = ["apfel", "brot", "dorf", "ente", "frau", "glas", "hund", "igel", "junge"]
WORDS += ["katze", "lampe", "maus"]
NO_ORDER = "equally frequent words in an arbitrary order, such as the order of a set"
NOT_BY_FREQUENCY = (
    "the right words in an order that is not by frequency, such as the order of a set"
)
BUILT_INS = [
    "torchtext.vocab.Vocab",
    "torchtext.vocab.build_vocab_from_iterator",
    "torchtext.data.Field",
]
AUTOGRAD = [
    "torch.autograd",
    "torch.autograd.grad",
    "torch.func",
    "torch.func.vjp",
    "torch.func.jacrev",
    "torch.Tensor.backward",
    "torch.ops.aten.embedding_dense_backward",
]
KEPT_TABLE = "the result of a table from an earlier call"
COUNTED_ON = "words counted together with those from an earlier call"
Sentences = list[list[str]]


def corpus(draw, counts: dict[str, int]) -> Sentences:
    """Draw a shuffled corpus in which each word occurs `counts` times.

    The sentences have 3, 5 and 1 words in turn.
    """
    words = [word for word, count in counts.items() for _ in range(count)]
    order = torch.randperm(len(words), generator=draw.generator).tolist()
    words = [words[i] for i in order]
    sentences: Sentences = []
    lengths = (3, 5, 1)
    while words:
        length = lengths[len(sentences) % 3]
        sentences.append(words[:length])
        words = words[length:]
    return sentences


def shuffled(draw, items: Sequence[str]) -> list[str]:
    """Return the items in a random order."""
    order = torch.randperm(len(items), generator=draw.generator)
    return [items[i] for i in order.tolist()]


def words_by(sentences: Sentences, key: Callable, least: int = 1) -> list[str]:
    """Return the words that occur at least `least` times, sorted by a key."""
    counts = Counter(word for sentence in sentences for word in sentence)
    return sorted(
        (w for w in counts if counts[w] >= least), key=lambda w: key(w, counts)
    )


def by_frequency(word: str, counts: Counter) -> tuple[int, str]:
    """Return a key that sorts by frequency, and equally frequent words by alphabet."""
    return -counts[word], word


def vocabulary_mistakes(
    sentences: Sentences, least: int = 1
) -> dict[str, Callable[[], list[str]]]:
    """Return wrong lists of words, keyed by the name of the mistake."""
    right = words_by(sentences, by_frequency, least)
    flat = [word for sentence in sentences for word in sentence]
    in_sentences = Counter(word for sentence in sentences for word in set(sentence))
    counts = Counter(flat)
    first_seen = [word for word in dict.fromkeys(flat) if counts[word] >= least]
    return {
        "the words in alphabetical order instead of by frequency": lambda: (
            SPECIALS + sorted(right)
        ),
        "the words in the order in which they occur": lambda: SPECIALS + first_seen,
        "the rarest words first": lambda: (
            SPECIALS + words_by(sentences, lambda w, c: (c[w], w), least)
        ),
        "frequent words first, but equally frequent words in the order in which they "
        "occur": (lambda: SPECIALS + sorted(first_seen, key=lambda w: -counts[w])),
        "frequent words first, but equally frequent words from z to a": lambda: (
            SPECIALS + sorted(sorted(right, reverse=True), key=lambda w: -counts[w])
        ),
        "frequent words first, but equally frequent words sorted without regard to "
        "upper case": (
            lambda: SPECIALS + sorted(right, key=lambda w: (-counts[w], w.lower()))
        ),
        "words sorted by the number of sentences that contain them, not by their "
        "frequency": (
            lambda: SPECIALS + sorted(right, key=lambda w: (-in_sentences[w], w))
        ),
        "the special tokens at the end": lambda: right + SPECIALS,
        "no special tokens at all": lambda: right,
        "the letters of the words instead of the words": lambda: (
            SPECIALS + words_by([list("".join(flat))], by_frequency)
        ),
    }


def built(student, *args) -> tuple[list[str], dict[str, int]]:
    """Call the student's function, and fail unless it returns a list and a dict."""
    parts = expect_parts(
        student.build_vocabulary(*args), 2, "two values, the list and the dictionary"
    )
    itos, stoi = parts
    if isinstance(itos, dict) and isinstance(stoi, (list, tuple)):
        fail(
            "You should return the list first and the dictionary second.",
            mistake="the dictionary first, the list second",
        )
    if not isinstance(itos, (list, tuple)) or not isinstance(stoi, dict):
        fail("You should return a list of words and a dictionary of their numbers.")
    return list(itos), stoi


def expect_words(
    student, sentences: Sentences, least: int = 1, mistakes: dict | None = None
) -> None:
    """Fail unless the list of words is right."""
    itos, _ = built(student, sentences, least)
    want = SPECIALS + words_by(sentences, by_frequency, least)
    named = (mistakes or {}) | vocabulary_mistakes(sentences, least)
    known = [wrong() for wrong in named.values()]
    if itos not in [want, *known] and by_count(itos, sentences) == by_count(
        want, sentences
    ):
        fail(
            "Frequent words come first, but equally frequent words are not in "
            "alphabetical order.",
            mistake=NO_ORDER,
        )
    if itos not in [want, *known] and same_words(itos, want):
        fail(
            "The words are right, but rarer words come before more frequent words. "
            "Sort the words by frequency, because the order of a set is arbitrary.",
            mistake=NOT_BY_FREQUENCY,
        )
    expect_equal(itos, want, "The list of words", mistakes=named)


def same_words(itos: Sequence[str], want: Sequence[str]) -> bool:
    """Return whether a list has the right words, with the special tokens first."""
    first = len(SPECIALS)
    return itos[:first] == want[:first] and Counter(itos) == Counter(want)


def by_count(itos: Sequence[str], sentences: Sentences) -> tuple:
    """Return values that do not depend on the order of equally frequent words."""
    counts = Counter(word for sentence in sentences for word in sentence)
    first, words = list(itos[: len(SPECIALS)]), itos[len(SPECIALS) :]
    return first, [counts[word] for word in words], Counter(words)


# --- build_vocabulary -------------------------------------------------------------


@check(
    "build-vocabulary",
    share=1,
    title="The result is a list of all words and a dictionary",
)
def test_vocabulary_is_complete(student, draw):
    sentences = corpus(draw, {word: draw.integer(1, 4) for word in WORDS})
    itos, stoi = built(student, sentences)
    mistakes = {
        phrase: lambda wrong=wrong: sorted(wrong())
        for phrase, wrong in vocabulary_mistakes(sentences).items()
        if "letters" in phrase or "no special" in phrase
    }
    want = sorted(SPECIALS + WORDS)
    expect_equal(sorted(map(str, itos)), want, "The set of words", mistakes=mistakes)
    if set(stoi) != set(itos):
        fail(
            "The dictionary should have an entry for every word in the list.",
            mistake="a dictionary without some words of the list",
        )


@check(
    "build-vocabulary",
    share=2,
    title="The order is special tokens, then words by frequency",
)
def test_vocabulary_order(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words = shuffled(draw, WORDS[:9])
    counts = {word: 2 + 2 * place for place, word in enumerate(words)}
    counts[words[0]] = 3
    expect_words(student, corpus(draw, counts))


@check(
    "build-vocabulary",
    share=1,
    title="Equally frequent words are in alphabetical order",
)
def test_vocabulary_ties(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words = shuffled(draw, [*WORDS, "Zug"])
    counts = dict.fromkeys(words[:5], 3) | dict.fromkeys(words[5:], 2)
    sentences = corpus(draw, counts)
    if "zug" in built(student, sentences)[0]:  # another check takes off points for this
        sentences = [[word.lower() for word in sentence] for sentence in sentences]
    expect_words(student, sentences)


@check(
    "build-vocabulary",
    share=2,
    title="A word that occurs min_freq times is in the list",
)
def test_vocabulary_min_freq(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words, least = shuffled(draw, WORDS), draw.integer(3, 6)
    counts = {word: least - 2 + place for place, word in enumerate(words)}
    sentences = corpus(draw, counts)

    def cut(bound: int) -> list[str]:
        return SPECIALS + words_by(sentences, by_frequency, bound)

    mistakes = {
        "the result when a word must occur more than min_freq times": lambda: cut(
            least + 1
        ),
        "the result when min_freq is ignored": lambda: cut(1),
        "the result when the rare words are kept and the frequent ones dropped": (
            lambda: SPECIALS + [word for word in cut(1)[4:] if counts[word] < least]
        ),
    }
    expect_words(student, sentences, least, mistakes)


@check(
    "build-vocabulary",
    share=1,
    title="Other special tokens work, also if they occur in the text",
)
def test_vocabulary_specials(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    specials = shuffled(draw, ["<zero>", "<one>", "<two>"])
    words = shuffled(draw, WORDS[:9])
    counts = {word: 2 + place for place, word in enumerate(words)}
    sentences = [*corpus(draw, counts), ["<two>"] * 9, ["<one>"]]
    itos, stoi = built(student, sentences, 2, specials)
    frequent = words[::-1]
    everything = words_by(sentences, by_frequency, 2)
    mistakes = {
        "special tokens from the text that are in the list a second time": lambda: (
            specials + everything
        ),
        "the special tokens sorted, not in the order given": lambda: (
            sorted(specials) + frequent
        ),
        "the default special tokens instead of `specials`": lambda: (
            SPECIALS + everything
        ),
        "only the special tokens that occur at least min_freq times": lambda: (
            [token for token in specials if token == "<two>"] + frequent
        ),
        "the special tokens sorted among the words": lambda: (
            everything + [token for token in specials if token not in everything]
        ),
    }
    expect_equal(itos, specials + frequent, "The list of words", mistakes=mistakes)
    if len(stoi) != len(itos):
        fail("The dictionary should have as many entries as the list.")


@check(
    "build-vocabulary",
    share=1,
    title="The dictionary gives each word its index in the list",
)
def test_vocabulary_numbers(student, draw):
    sentences = corpus(draw, {word: draw.integer(2, 5) for word in WORDS})
    itos, stoi = built(student, sentences)
    if not set(WORDS) <= set(map(str, itos)):
        fail("The list lacks words of the sentences, so no number can be looked up.")
    want = {word: place for place, word in enumerate(itos)}
    counts = Counter(word for sentence in sentences for word in sentence)
    mistakes = {
        "a dictionary that counts from 1": {word: i + 1 for word, i in want.items()},
        "a dictionary without the special tokens": {
            word: i for word, i in want.items() if word not in SPECIALS
        },
        "a dictionary whose numbers do not count the special tokens": {
            word: i - 4 for word, i in want.items() if word not in SPECIALS
        },
        "the frequency of each word, not its number": dict(counts),
        "a dictionary from numbers to words": dict(enumerate(itos)),
    }
    expect_equal(stoi, want, "The dictionary", mistakes=mistakes)


def words_changed(sentences: Sentences, change: Callable[[str], str]) -> list[str]:
    """Return the list of words, with each word changed before it is counted."""
    changed = [[change(word) for word in sentence] for sentence in sentences]
    return SPECIALS + words_by(changed, by_frequency)


@check(
    "build-vocabulary",
    share=1,
    title="Written by you, the words unchanged and the text read only once",
    bans=("build_vocabulary", BUILT_INS),
)
def test_vocabulary_of_an_iterator(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words = [*shuffled(draw, WORDS[:5]), "Frau", "Übung", "ab und zu", ",", "3"]
    words += ["U\u0308bung", "²", "", " Frau"]  # different strings that look alike
    sentences = corpus(draw, {word: 2 + i for i, word in enumerate(words)})
    sentences.insert(2, [])
    built(student, sentences)
    once = student.load("builtins.iter")(sentences)
    itos, _ = built(student, once)
    want = SPECIALS + words_by(sentences, by_frequency)
    lower = [[word.lower() for word in sentence] for sentence in sentences]
    mistakes: dict[str, Any] = {
        "words in lower case": lambda: SPECIALS + words_by(lower, by_frequency),
        "an empty vocabulary: the sentences were read twice": lambda: SPECIALS,
        "words split at their spaces; a token may contain spaces": lambda: (
            SPECIALS + words_by([" ".join(s).split() for s in sentences], by_frequency)
        ),
        **{
            Phrase(
                "words converted to the Unicode form {form}; tokens should not change",
                form,
            ): partial(words_changed, sentences, partial(unicodedata.normalize, form))
            for form in ("NFC", "NFKC", "NFD")
        },
        "words without the spaces around them; a token may contain spaces": partial(
            words_changed, sentences, str.strip
        ),
        "a list without the empty word; any string is a token": lambda: (
            SPECIALS + [word for word in words_by(sentences, by_frequency) if word]
        ),
        "only words that consist of letters; every token counts": lambda: (
            SPECIALS
            + [word for word in words_by(sentences, by_frequency) if word.isalpha()]
        ),
    }
    expect_equal(itos, want, "The list of words", mistakes=mistakes)


@check(
    "build-vocabulary",
    share=1,
    title="Calls are independent, and the arguments do not change",
)
def test_vocabulary_again(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words, specials = shuffled(draw, WORDS), ["<zero>", "<one>"]
    of_nothing, _ = built(student, [])
    if set(WORDS) & set(map(str, of_nothing)):
        fail(
            "The list for a corpus without sentences contains words. They come from "
            "the corpus of an earlier call.",
            mistake=COUNTED_ON,
        )
    expect_equal(of_nothing, SPECIALS, "The list for a corpus without words")
    first, second = (
        corpus(draw, {word: 2 + i for i, word in enumerate(part)})
        for part in (words[:9], words[3:])
    )
    calls = [(first, 2, specials), (second, 2, specials)]
    results = student.calls_in_turn(student.build_vocabulary, *calls)
    for (_, now), sentences in zip(results, (first, second), strict=True):
        itos, _ = expect_parts(now, 2, "two values, the list and the dictionary")
        want = specials + words_by(sentences, by_frequency, 2)
        both = specials + words_by([*first, *second], by_frequency, 2)
        mistakes = {
            COUNTED_ON: both,
            "the words from an earlier call": specials
            + words_by(first, by_frequency, 2),
        }
        what = "The list of words, in several calls,"
        expect_equal(list(itos), want, what, mistakes=mistakes)
    function = student.build_vocabulary
    _, after = student.call_and_return_inputs(function, first, 2, specials)
    for now, then in zip(after, (first, 2, specials), strict=True):
        if now != then:
            fail(
                "Your function changed an argument. `append`, `extend`, `sort` and += "
                "change the list itself: make a new list.",
                mistake="an argument is changed",
            )


# --- one_hot_embedding ------------------------------------------------------------


def embedding_mistakes(ids: Tensor, weight: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return wrong word vectors, keyed by the name of the mistake."""
    w = weight.double()
    right = w[ids]
    return {
        "the rows of other words: each number is off by one": lambda: w[ids - 1],
        "the rows of the next words": lambda: w[(ids + 1) % len(w)],
        "the vectors times √d_model, which belongs in `TokenEmbedding`": lambda: (
            right * w.size(1) ** 0.5
        ),
        "the sum of a sentence's vectors instead of one vector for each word": lambda: (
            right.sum(-2)
        ),
        "the mean of a sentence's vectors instead of one vector for each word": (
            lambda: right.mean(-2)
        ),
        "the one-hot vectors themselves": lambda: torch.eye(len(w))[ids],
        "the table with rows and columns swapped": lambda: w.reshape(w.size(1), -1).T[
            ids
        ],
    }


def every_kind_of_id(draw, *shape: int) -> Tensor:
    """Draw ids that include the special tokens and the last word."""
    ids = draw.ids(*shape, low=0, high=V)
    kinds = torch.tensor([V - 1, 0, 1, 2, 3])[: ids.numel()]
    ids.view(-1)[: len(kinds)] = kinds
    return ids


@check(
    "one-hot-embedding",
    share=1,
    title="Ids of shape (b, t) give vectors of shape (b, t, d)",
    form=True,
)
def test_one_hot_shape(student, draw):
    ids, weight = every_kind_of_id(draw, B, T), draw.normal(V, D)
    expect_shape(student.one_hot_embedding(ids, weight), (B, T, D), "The result")


@check("one-hot-embedding", share=3, title="Each word gets its own row of the table")
def test_one_hot_values(student, draw):
    ids, weight = every_kind_of_id(draw, B, T), draw.normal(V, D)
    got = student.one_hot_embedding(ids, weight)
    mistakes = embedding_mistakes(ids, weight)
    expect_close(got, weight.double()[ids], "The result", mistakes=mistakes)
    ids, weight = draw.ids(B, T, low=0, high=MANY), draw.normal(MANY, 2)
    ids[0, 0] = MANY - 1
    with blame("a table of a fixed size"):
        got = student.one_hot_embedding(ids, weight)
        expect_close(got, weight.double()[ids], "With a larger table, the result")
    for n, ids in ids_of_every_size(draw):
        weight = draw.normal(n["n_words"], n["d_model"])
        if ids.numel() == 1:
            continue  # another check has axes of length 1
        with blame(SOME_SIZES):
            got = student.one_hot_embedding(ids, weight)
            expect_close(got, weight.double()[ids], "The result")


def ids_of_every_size(draw) -> Iterator[tuple[dict[str, int], Tensor]]:
    """Yield every order of sizes, and ids (b, t) that are not contiguous."""
    for n in orders_of(("b", "t", "n_words", "d_model")).values():
        yield n, draw.ids(n["t"], n["b"], low=0, high=n["n_words"]).T


@check(
    "one-hot-embedding",
    share=1,
    title="The result is right for a batch without the last words of the table",
)
def test_one_hot_without_last_words(student, draw):
    ids, weight = draw.ids(B, T, low=0, high=V - 3), draw.normal(V, D)
    full = ids.clone()
    full[0, 0] = V - 1

    def ordinary() -> None:
        got = student.one_hot_embedding(full, weight)
        expect_close(got, weight.double()[full], "")

    words = "a one-hot vector only as long as the largest number in the batch"
    with blame(words, ordinary):
        got = student.one_hot_embedding(ids, weight)
        mistakes = embedding_mistakes(ids, weight)
        expect_close(got, weight.double()[ids], "The result", mistakes=mistakes)


SHAPES: dict[str, list[tuple[int, ...]]] = {
    "code that works only for ids of shape (b, t)": [(5,), (3, 4, 5)],
    "code that does not work for one sentence of one word": [(1, 1)],
    "code that does not work for a single number, ids of shape ()": [()],
}


@check("one-hot-embedding", share=1, title="Ids of any shape work: (), (t,), (b, h, t)")
def test_one_hot_any_shape(student, draw):
    weight, usual = draw.normal(V, D), every_kind_of_id(draw, B, T)

    def ordinary() -> None:
        got = student.one_hot_embedding(usual, weight)
        expect_close(got, weight.double()[usual], "")

    for words, shapes in SHAPES.items():
        for shape in shapes:
            ids = every_kind_of_id(draw, *shape)
            with blame(words, ordinary):
                got = student.one_hot_embedding(ids, weight)
                mistakes = embedding_mistakes(ids, weight)
                expect_close(got, weight.double()[ids], "The result", mistakes)


@check(
    "one-hot-embedding", share=1, title="Calls are independent, on the table's device"
)
def test_one_hot_again(student, draw):
    calls = [(every_kind_of_id(draw, 7, 2), draw.normal(V, D)) for _ in range(2)]
    calls[1][0].copy_(calls[1][0].flip(0))
    expect_each_call_anew(
        student,
        student.one_hot_embedding,
        calls,
        lambda ids, weight: weight.double()[ids],
        "the result",
        mistakes={
            "the vectors of the words from an earlier call": calls[1][1].double()[
                calls[0][0]
            ],
            "the vectors from the table of an earlier call": calls[0][1].double()[
                calls[1][0]
            ],
        },
    )
    expect_same_device(student, student.one_hot_embedding, *calls[0], what="the result")


@check("one-hot-embedding", share=1, title="Gradients reach the table")
def test_one_hot_gradients(student, draw):
    ids, weight = every_kind_of_id(draw, B, T), draw.normal(V, D)
    upstream = draw.normal(B, T, D)
    expect_shape(student.one_hot_embedding(ids, weight), (B, T, D), "The result")
    run = student.gradients(student.one_hot_embedding, ids, weight, upstream=upstream)
    run = replace(run, inputs=run.inputs[1:])
    expect_gradients(run, lambda weight: weight[ids], [weight], upstream)


@check(
    "one-hot-embedding",
    share=1,
    title="float64 and a transposed table work, and the table does not change",
)
def test_one_hot_float64(student, draw):
    ids = every_kind_of_id(draw, T, B).T
    weight = draw.normal(D, V, dtype=torch.float64).T
    function = student.one_hot_embedding
    got = expect_no_traces(student, function, ids, weight, still=True)
    mistakes = embedding_mistakes(ids, weight)
    expect_close(got, weight[ids], "The result", mistakes=mistakes)
    expect_double(function, lambda i, w: w[i], [ids, weight], "the result")


# --- lookup_gradient --------------------------------------------------------------


def one_row_each(ids: Tensor, upstream: Tensor, last: bool) -> Tensor:
    """Return a gradient that counts only the last or the first place of each word."""
    table = torch.zeros(V, upstream.size(-1), dtype=torch.float64)
    rows = upstream.double().reshape(-1, upstream.size(-1))
    places = range(len(rows)) if last else reversed(range(len(rows)))
    for place in places:
        table[ids.flatten()[place]] = rows[place]
    return table


def gradient_mistakes(ids: Tensor, upstream: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return wrong gradients of a table, keyed by the name of the mistake."""
    g = upstream.double()
    right = reference.lookup_gradient(ids, g, V)
    counts = torch.bincount(ids.flatten(), minlength=V).double()[:, None]
    return {
        **place_mistakes(ids, upstream, right, counts),
        "the transposed gradient": lambda: right.T,
        "the number of occurrences of each word, without their gradients": lambda: (
            counts.expand_as(right)
        ),
        "the gradient with the opposite sign": lambda: -right,
        "the sum times √d_model": lambda: right * g.size(-1) ** 0.5,
        "each word's gradient times the number of its occurrences": lambda: (
            right * counts
        ),
        "only zeros: a method without a final underscore returns a new tensor": (
            lambda: torch.zeros_like(right)
        ),
        **row_mistakes(ids, g, right, counts),
    }


def place_mistakes(
    ids: Tensor, upstream: Tensor, right: Tensor, counts: Tensor
) -> dict[str, Callable[[], Tensor]]:
    """Return gradients that are wrong for repeated words, keyed by name."""
    return {
        "the gradient of only each word's last occurrence; add up all occurrences": (
            lambda: one_row_each(ids, upstream, last=True)
        ),
        "the gradient of only each word's first occurrence; add up all occurrences": (
            lambda: one_row_each(ids, upstream, last=False)
        ),
        "the mean over the occurrences of a word, not the sum": lambda: (
            right / counts.clamp(min=1)
        ),
        "the sum divided by the number of sentences": lambda: right / len(ids),
        "the sum divided by the number of tokens": lambda: right / ids.numel(),
    }


def row_mistakes(
    ids: Tensor, g: Tensor, right: Tensor, counts: Tensor
) -> dict[str, Callable[[], Tensor]]:
    """Return gradients that do not have one row for each word, keyed by name."""
    return {
        "the gradient without the rows of words that do not occur": lambda: right[
            counts[:, 0] > 0
        ],
        "a table with rows only up to the largest number in the batch": lambda: right[
            : int(ids.max()) + 1
        ],
        "one table for each sentence; add up their gradients": lambda: torch.stack(
            [
                reference.lookup_gradient(row, own, V)
                for row, own in zip(ids, g, strict=True)
            ]
        ),
        "the gradient with zeros in the row of padding, although it was looked up": (
            lambda: right * (torch.arange(V) != 1)[:, None]
        ),
        "the gradient with zeros in row 0, although it was looked up": lambda: (
            right * (torch.arange(V) != 0)[:, None]
        ),
    }


def repeating_ids(draw, *shape: int) -> Tensor:
    """Draw ids in which one occurs several times, 0 and 1 once, and some never."""
    ids = draw.ids(*shape, low=2, high=V - 2)
    flat = ids.flatten()
    flat[flat == 3] = V - 3
    flat[2] = draw.integer(5, V - 3)
    flat[0], flat[1], flat[-2] = 1, flat[2], 0
    flat[-1] = flat[2]
    return flat.view(shape)


@contextmanager
def gradients_off(student) -> Iterator[None]:
    """Switch autograd off for the student's code."""
    set_grad_enabled = student.load("torch.set_grad_enabled")
    set_grad_enabled(False)
    try:
        yield
    finally:
        set_grad_enabled(True)


@check(
    "lookup-gradient",
    share=1,
    title="The gradient has one row for each word of the vocabulary",
    form=True,
)
def test_lookup_gradient_shape(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    got = student.lookup_gradient(ids, upstream, V)
    if isinstance(got, Tensor) and got.shape != (V, D):
        mistakes = gradient_mistakes(ids, upstream)
        expect_close(got, torch.zeros(V, D), "The gradient", mistakes=mistakes)
    expect_shape(got, (V, D), "The gradient")


@check(
    "lookup-gradient",
    share=3,
    title="The gradients of all occurrences of a word add up",
)
def test_lookup_gradient_values(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    got = student.lookup_gradient(ids, upstream, V)
    want = reference.lookup_gradient(ids, upstream.double(), V)
    mistakes = gradient_mistakes(ids, upstream)
    expect_close(got, want, "The gradient", mistakes=mistakes)


@check(
    "lookup-gradient",
    share=1,
    title="The gradient equals autograd's gradient for ids of any shape",
)
def test_lookup_gradient_is_autograds(student, draw):
    many = repeating_ids(draw, B, 5), draw.normal(B, 5, D)

    def ordinary() -> None:
        want = reference.lookup_gradient(many[0], many[1].double(), V)
        expect_close(student.lookup_gradient(*many, V), want, "")

    for words, shapes in SHAPES.items():
        for shape in shapes:
            ids, upstream = every_kind_of_id(draw, *shape), draw.normal(*shape, D)
            weight = draw.normal(V, D, dtype=torch.float64).requires_grad_()
            (weight[ids] * upstream.double()).sum().backward()
            with blame(words, ordinary):
                got = student.lookup_gradient(ids, upstream, V)
                mistakes = gradient_mistakes(ids, upstream) if shape else None
                expect_close(got, weight.grad, "The gradient", mistakes)


@check(
    "lookup-gradient",
    share=1,
    title="Many tokens or rows work, and calls are independent",
)
def test_lookup_gradient_again(student, draw):
    def right(ids: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
        return reference.lookup_gradient(ids, upstream.double(), vocab_size)

    function, what = student.lookup_gradient, "the gradient"
    calls = [(repeating_ids(draw, 7, 2), draw.normal(7, 2, D), V) for _ in range(2)]
    expect_each_call_anew(student, function, calls, right, what)
    expect_same_device(student, function, *calls[0], what=what)
    many = draw.ids(6, 150, low=0, high=2), draw.normal(6, 150, 2), MANY
    with blame("code that works only for few tokens or rows"):
        what = "The gradient of a larger table"
        expect_close(function(*many), right(*many), what, tolerance=1e-4)
    for n, ids in ids_of_every_size(draw):
        given = ids, draw.normal(*ids.shape, n["d_model"]), n["n_words"]
        with blame(SOME_SIZES):
            expect_close(function(*given), right(*given), "The gradient")


@check(
    "lookup-gradient", share=1, title="Tensors that are not contiguous work in float64"
)
def test_lookup_gradient_float64(student, draw):
    ids = repeating_ids(draw, 5, B).T
    upstream = draw.normal(D, 5, B, dtype=torch.float64).permute(2, 1, 0)
    plain = ids.contiguous(), upstream.contiguous()
    words = "`view` on a tensor that is not contiguous; `reshape` can copy"
    with blame(words, lambda: student.lookup_gradient(*plain, V)):
        got = student.lookup_gradient(ids, upstream, V)
    want = reference.lookup_gradient(ids, upstream, V)
    expect_close(got, want, "The gradient", mistakes=gradient_mistakes(ids, upstream))
    expect_double(
        lambda ids, upstream: student.lookup_gradient(ids, upstream, V),
        lambda ids, upstream: reference.lookup_gradient(ids, upstream, V),
        [ids, upstream],
        "the gradient",
    )


@check(
    "lookup-gradient",
    share=1,
    title="Written by you, without a change of the arguments",
    form=True,
    bans=("lookup_gradient", AUTOGRAD),
)
def test_lookup_gradient_leaves_inputs(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    function = student.lookup_gradient
    function(ids, upstream, V)
    words = "a gradient from autograd"
    with blame(words, lambda: function(ids, upstream, V)), gradients_off(student):
        function(ids, upstream, V)
    got = expect_no_traces(student, function, ids, upstream, V, still=True)
    expect_shape(got, (V, D), "The gradient")


# --- TokenEmbedding ---------------------------------------------------------------


def layer_with_table(student, draw, dtype=torch.float32) -> tuple:
    """Make the student's layer with a random table, and return both."""
    layer = student.TokenEmbedding(V, D)
    shapes = layer.parameters_by_name()
    if list(shapes.values()) != [(V, D)]:
        fail(
            Phrase(
                "TokenEmbedding(vocab_size, d_model) should have one parameter, the "
                "table of shape ({vocab_size}, {d_model}), but your parameters have "
                "the shapes {shapes}.",
                V,
                D,
                list(shapes.values()),
            )
        )
    state = draw.state(shapes)
    layer.load_state_dict(state, strict=False)  # the layer may save its own buffers
    if dtype != torch.float32:
        layer.to(dtype)
    return layer, next(iter(state.values())).to(dtype)


def layer_mistakes(ids: Tensor, table: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return wrong scaled vectors, keyed by the name of the mistake."""
    vectors = table.double()[ids]
    root = D**0.5
    return {
        "the vectors without the factor √d_model": lambda: vectors,
        "the vectors divided by √d_model": lambda: vectors / root,
        "the vectors times d_model, not its square root": lambda: vectors * D,
        "the vectors with the factor √vocab_size": lambda: vectors * V**0.5,
        "the vectors times the square root of the number of tokens": lambda: (
            vectors * ids.size(-1) ** 0.5
        ),
        "the vectors after scaling to length √d_model": lambda: (
            vectors / vectors.norm(dim=-1, keepdim=True) * root
        ),
        "the vectors plus √d_model instead of times √d_model": lambda: vectors + root,
        "the same vector for all words of a sentence": lambda: vectors.sum(-2) * root,
    }


@check(
    "token-embedding",
    share=1,
    title="Ids of shape (b, t) give vectors of shape (b, t, d)",
    form=True,
)
def test_layer_shape(student, draw):
    layer, _ = layer_with_table(student, draw)
    got = layer(every_kind_of_id(draw, B, T))
    expect_shape(got, (B, T, D), "The result")


@check(
    "token-embedding",
    share=3,
    title="The vectors are looked up and multiplied by √d_model",
)
def test_layer_values(student, draw):
    layer, table = layer_with_table(student, draw)
    ids = every_kind_of_id(draw, B, 5)
    want = table.double()[ids] * D**0.5
    mistakes = layer_mistakes(ids, table)
    expect_close(layer(ids), want, "The result", mistakes=mistakes)


@check("token-embedding", share=2, title="Gradients reach the table")
def test_layer_gradients(student, draw):
    layer, _ = layer_with_table(student, draw)
    ids, upstream = every_kind_of_id(draw, B, T), draw.normal(B, T, D)
    run = student.gradients(layer, ids, upstream=upstream)
    (got,) = run.parameters.values()
    if got is None:
        fail(
            "No gradient reaches the table, so training would never change the word "
            "vectors. .detach(), .data, torch.no_grad() or a new tensor with the "
            "table's numbers cuts off the gradient.",
            mistake="the gradient is cut off",
        )
    right = reference.lookup_gradient(ids, upstream.double(), V)
    mistakes: dict[str, Any] = {
        "the gradient of vectors that are not scaled": right,
        "the gradient of vectors that are divided by √d_model": right / D**0.5,
        "the gradient of vectors times d_model": right * D,
        **{
            Phrase("a table whose row {row} is never trained (`padding_idx`)", row): (
                right * D**0.5 * (torch.arange(V) != row)[:, None]
            )
            for row in range(4)
        },
    }
    want = right * D**0.5
    expect_close(got, want, "The table's gradient", mistakes, tolerance=1e-4)


@check(
    "token-embedding",
    share=1,
    title="float64 works, a second call gives the same, and the table does not change",
)
def test_layer_leaves_its_table(student, draw):
    layer, table = layer_with_table(student, draw, torch.float64)
    ids = every_kind_of_id(draw, 1, T)
    first, second = layer(ids), layer(ids)
    expect_dtype(first, torch.float64, "the result")
    (name,) = layer.parameters_by_name()
    if not torch.equal(layer.state_dict()[name], table):
        fail(
            "A call changed the layer's table, so the next call returns different "
            "vectors. Scale the result of the look-up, not the table.",
            mistake="a call that changes the table",
        )
    want = table[ids] * D**0.5
    expect_close(second, want, "The result of a second call")
    expect_no_traces(student, layer, ids, still=True)
    expect_no_seed(student, layer, ids)


@check("token-embedding", share=1, title="Calls are independent, on the table's device")
def test_layer_again(student, draw):
    layer, table = layer_with_table(student, draw)
    calls = [(every_kind_of_id(draw, B, T),), (every_kind_of_id(draw, B, T).flip(0),)]
    right, what = lambda ids: table.double()[ids] * D**0.5, "the result"
    expect_each_call_anew(student, layer, calls, right, what)
    expect_same_device(student, layer, *calls[0], what=what)
    layer.eval()
    expect_each_call_anew(
        student, layer, calls, right, Phrase("in evaluation mode, {what}", what)
    )
    expect_table_read_anew(student, layer, calls[0][0], right)
    expect_other_width(student, draw)


def expect_table_read_anew(student, layer, ids: Tensor, right: Callable) -> None:
    """Fail if a layer in evaluation uses an old copy of its table."""
    old = right(ids)
    (name,) = layer.parameters_by_name()
    layer.load_state_dict({name: 3 * layer.state_dict()[name]}, strict=False)
    what = "After the numbers in the table have changed, the result"
    expect_close(layer(ids), 3 * old, what, {KEPT_TABLE: old})


def expect_other_width(student, draw) -> None:
    """Fail if a second layer with another width uses the factor of the first layer."""
    layer = student.TokenEmbedding(V, 4 * D)
    ((name, shape),) = layer.parameters_by_name().items()
    table = draw.normal(*shape)
    layer.load_state_dict({name: table}, strict=False)
    ids = draw.ids(B, T, low=0, high=V)
    wide = table.double()[ids]
    named = {
        "the vectors with the factor of a layer with a different width": wide * D**0.5,
        "the vectors without the factor √d_model": wide,
    }
    what = "The result of a second layer, with a different width,"
    expect_close(layer(ids), wide * (4 * D) ** 0.5, what, named)
    for n, ids in ids_of_every_size(draw):
        layer = student.TokenEmbedding(n["n_words"], n["d_model"])
        ((name, shape),) = layer.parameters_by_name().items()
        table = draw.normal(*shape)
        layer.load_state_dict({name: table}, strict=False)
        want = table.double()[ids] * n["d_model"] ** 0.5
        for is_training in (True, False):
            layer.train(is_training)
            with blame(SOME_SIZES):
                expect_close(layer(ids), want, "The result")


# --- tie_weights ------------------------------------------------------------------


def two_layers(student, draw) -> tuple:
    """Make the table of an embedding, and a projection, with random weights."""
    embedding = student.load("torch.nn.Module")()
    table = student.load("torch.nn.Embedding")(V, D)
    embedding.add_module("table", table)
    projection = student.load("torch.nn.Linear")(D, V)
    states = [draw.state(m.parameters_by_name()) for m in (table, projection)]
    for module, state in zip((table, projection), states, strict=True):
        module.load_state_dict(state)
    return embedding, table, projection, states


@check("tie-weights", share=1, title="The projection uses the embedding's matrix")
def test_tying_values(student, draw):
    embedding, table, projection, (rows, old) = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    tied, kept = projection.state_dict(), table.state_dict()
    if torch.equal(kept["weight"], old["weight"]):
        fail(
            "The embedding now has the projection's matrix instead of its own. The "
            "projection should get the embedding's matrix.",
            mistake="the projection's matrix in the embedding",
        )
    expect_close(kept["weight"], rows["weight"], "The embedding's matrix")
    mistakes = {
        "the old matrix: nothing was tied": old["weight"],
        "the embedding's matrix in a different order (a view instead of the matrix "
        "itself)": (rows["weight"].reshape(D, V).T),
    }
    expect_close(tied["weight"], rows["weight"], "The projection's matrix", mistakes)
    if "bias" not in tied:
        fail("The projection has lost its bias.", mistake="the loss of the bias")
    expect_close(tied["bias"], old["bias"], "The projection's bias")
    bare = student.load("torch.nn.Linear")(D, V, bias=False)
    with blame("code that works only with a bias"):
        student.tie_weights(embedding, bare)
        got = bare.state_dict()["weight"]
        expect_close(got, rows["weight"], "The matrix of a projection without a bias")


@check("tie-weights", share=2, title="Embedding and projection have one parameter")
def test_tying_makes_one_parameter(student, draw):
    embedding, table, projection, _ = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    both = student.load("torch.nn.ModuleList")([table, projection])
    shapes = both.parameters_by_name()
    if sorted(shapes) == ["0.weight", "1.bias"]:
        return
    if "1.weight" not in shapes:
        fail(
            Phrase(
                "The two layers should have one matrix and one bias in all, but their "
                "parameters have the shapes {shapes}.",
                sorted(shapes),
            )
        )
    new = {"weight": draw.normal(V, D)}
    table.load_state_dict(new)
    if torch.equal(projection.state_dict()["weight"], new["weight"]):
        fail(
            "The two matrices share their memory, but they are still two parameters, "
            "so an optimiser would update the same numbers twice.",
            mistake="two parameters that share their memory through .data",
        )
    fail(
        "The two matrices are still two parameters, and training changes each one "
        "separately.",
        mistake="a copy instead of one shared parameter",
    )


@check("tie-weights", share=1, title="A change of one matrix changes the other matrix")
def test_tying_lasts(student, draw):
    embedding, table, projection, _ = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    new = {"weight": draw.normal(V, D)}
    table.load_state_dict(new)
    moved = projection.state_dict()["weight"]
    if not torch.equal(moved, new["weight"]):
        fail(
            "We changed the embedding's matrix, as training does, but the "
            "projection's matrix did not change.",
            mistake="a copy instead of one shared parameter",
        )


@check("tie-weights", share=1, title="The gradients of look-up and projection add up")
def test_tying_gradients(student, draw):
    embedding, table, projection, (rows, _) = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    both = student.load("torch.nn.Sequential")(table, projection)
    ids, upstream = draw.ids(B, T, low=0, high=V), draw.normal(B, T, V)
    run = student.gradients(both, ids, upstream=upstream)
    weight = rows["weight"].double().requires_grad_()
    other = weight.detach().clone().requires_grad_()
    (weight[ids] @ other.T * upstream.double()).sum().backward()
    got = run.parameters.get("0.weight")
    if got is None:
        fail(
            "No gradient reaches the shared matrix. It should still be a trainable "
            "parameter.",
            mistake="the gradient is cut off",
        )
    mistakes = {
        "the gradient of only the look-up: a copy instead of one shared "
        "parameter": weight.grad,
        "the gradient of only the projection": other.grad,
    }
    want = weight.grad + other.grad
    expect_close(got, want, "The matrix's gradient", mistakes, tolerance=1e-4)
    bias = run.parameters.get("1.bias")
    if bias is None:
        fail(
            "No gradient reaches the projection's bias, although it did before "
            "`tie_weights`.",
            mistake="a bias that is no longer trained",
        )
