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
MANY = 700  # rows of a table: more than any size that code may assume
SPECIALS = ["<unk>", "<pad>", "<sos>", "<eos>"]
WORDS = ["apfel", "brot", "dorf", "ente", "frau", "glas", "hund", "igel", "junge"]
WORDS += ["katze", "lampe", "maus"]
NO_ORDER = "equally frequent words in an order of chance, such as that of a set"
NOT_BY_FREQUENCY = "the right words, but not sorted by frequency, as if from a set"
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
KEPT_TABLE = "the result of a table that was kept from before"
COUNTED_ON = "words counted together with those from an earlier call"
Sentences = list[list[str]]


def corpus(draw, counts: dict[str, int]) -> Sentences:
    """Draw sentences of 3, 5 and 1 words that contain each word `counts` times."""
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
    """List the words that occur often enough, sorted by a key."""
    counts = Counter(word for sentence in sentences for word in sentence)
    return sorted(
        (w for w in counts if counts[w] >= least), key=lambda w: key(w, counts)
    )


def by_frequency(word: str, counts: Counter) -> tuple[int, str]:
    """Sort frequent words first, and equally frequent words alphabetically."""
    return -counts[word], word


def vocabulary_mistakes(
    sentences: Sentences, least: int = 1
) -> dict[str, Callable[[], list[str]]]:
    """Name the mistake in the list of words."""
    right = words_by(sentences, by_frequency, least)
    flat = [word for sentence in sentences for word in sentence]
    in_sentences = Counter(word for sentence in sentences for word in set(sentence))
    counts = Counter(flat)
    first_seen = [word for word in dict.fromkeys(flat) if counts[word] >= least]
    return {
        "the words in alphabetical order, whatever their frequency": lambda: (
            SPECIALS + sorted(right)
        ),
        "the words in the order in which they occur": lambda: SPECIALS + first_seen,
        "the rarest words first": lambda: (
            SPECIALS + words_by(sentences, lambda w, c: (c[w], w), least)
        ),
        "frequent words first, but equally frequent ones as they happen to occur": (
            lambda: SPECIALS + sorted(first_seen, key=lambda w: -counts[w])
        ),
        "frequent words first, but equally frequent ones from z to a": lambda: (
            SPECIALS + sorted(sorted(right, reverse=True), key=lambda w: -counts[w])
        ),
        "frequent words first, but equally frequent ones without regard to capitals": (
            lambda: SPECIALS + sorted(right, key=lambda w: (-counts[w], w.lower()))
        ),
        "words ranked by how many sentences they occur in, not how often they occur": (
            lambda: SPECIALS + sorted(right, key=lambda w: (-in_sentences[w], w))
        ),
        "the special tokens at the end": lambda: right + SPECIALS,
        "no special tokens at all": lambda: right,
        "the letters of the words instead of the words": lambda: (
            SPECIALS + words_by([list("".join(flat))], by_frequency)
        ),
    }


def built(student, *args) -> tuple[list[str], dict[str, int]]:
    """Call the student's function and fail unless it returns a list and a dict."""
    parts = expect_parts(
        student.build_vocabulary(*args), 2, "two things, the list and the dictionary"
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
            "Frequent words come first, but of words that occur equally often another "
            "one stands before the earlier one in the alphabet.",
            mistake=NO_ORDER,
        )
    if itos not in [want, *known] and same_words(itos, want):
        fail(
            "The words are the right ones, but rarer words stand before more frequent "
            "ones. Sort them by how often they occur: a set has an order of chance.",
            mistake=NOT_BY_FREQUENCY,
        )
    expect_equal(itos, want, "The list of words", mistakes=named)


def same_words(itos: Sequence[str], want: Sequence[str]) -> bool:
    """Tell whether a list has the right words, with the special tokens first."""
    first = len(SPECIALS)
    return itos[:first] == want[:first] and Counter(itos) == Counter(want)


def by_count(itos: Sequence[str], sentences: Sentences) -> tuple:
    """Return values that do not depend on the order of equally frequent words."""
    counts = Counter(word for sentence in sentences for word in sentence)
    first, words = list(itos[: len(SPECIALS)]), itos[len(SPECIALS) :]
    return first, [counts[word] for word in words], Counter(words)


# --- build_vocabulary -------------------------------------------------------------


@check("build-vocabulary", share=1, title="A list of all words, and a dictionary")
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
            "The dictionary should have an entry for every word of the list.",
            mistake="the dictionary lacks words of the list",
        )


@check("build-vocabulary", share=2, title="Special tokens, then frequent words first")
def test_vocabulary_order(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words = shuffled(draw, WORDS[:9])
    counts = {word: 2 + 2 * place for place, word in enumerate(words)}
    counts[words[0]] = 3
    expect_words(student, corpus(draw, counts))


@check("build-vocabulary", share=1, title="Equally frequent: the alphabet decides")
def test_vocabulary_ties(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words = shuffled(draw, [*WORDS, "Zug"])
    counts = dict.fromkeys(words[:5], 3) | dict.fromkeys(words[5:], 2)
    sentences = corpus(draw, counts)
    if "zug" in built(student, sentences)[0]:  # another check takes off points for this
        sentences = [[word.lower() for word in sentence] for sentence in sentences]
    expect_words(student, sentences)


@check("build-vocabulary", share=2, title="min_freq lets in what occurs so often")
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


@check("build-vocabulary", share=1, title="Other special tokens, and some in the text")
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
        "special tokens of the text listed a second time": lambda: (
            specials + everything
        ),
        "the special tokens sorted, not in the order given": lambda: (
            sorted(specials) + frequent
        ),
        "the default special tokens, whatever `specials` says": lambda: (
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


@check("build-vocabulary", share=1, title="The dictionary gives each word its place")
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
        "a dictionary whose numbers leave out the special tokens": {
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
    title="Written by you; words as they are, read once",
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
        "words turned into lower case": lambda: (
            SPECIALS + words_by(lower, by_frequency)
        ),
        "an empty vocabulary: the sentences were read twice": lambda: SPECIALS,
        "words split at their blanks; a token may hold some": lambda: (
            SPECIALS + words_by([" ".join(s).split() for s in sentences], by_frequency)
        ),
        **{
            Phrase(
                "words turned into Unicode's form {form}; a token is what it is", form
            ): partial(words_changed, sentences, partial(unicodedata.normalize, form))
            for form in ("NFC", "NFKC", "NFD")
        },
        "words without the blanks around them; a token may hold some": partial(
            words_changed, sentences, str.strip
        ),
        "a list without the empty word; any string is a token": lambda: (
            SPECIALS + [word for word in words_by(sentences, by_frequency) if word]
        ),
        "words of letters alone; every token counts": lambda: (
            SPECIALS
            + [word for word in words_by(sentences, by_frequency) if word.isalpha()]
        ),
    }
    expect_equal(itos, want, "The list of words", mistakes=mistakes)


@check("build-vocabulary", share=1, title="Each corpus by itself; arguments unchanged")
def test_vocabulary_again(student, draw):
    draw = draw.fixed(0)  # reveals each known mistake
    words, specials = shuffled(draw, WORDS), ["<zero>", "<one>"]
    of_nothing, _ = built(student, [])
    if set(WORDS) & set(map(str, of_nothing)):
        fail(
            "The list of a corpus without sentences holds words: those of a corpus "
            "that an earlier call was given.",
            mistake=COUNTED_ON,
        )
    expect_equal(of_nothing, SPECIALS, "The list of no words")
    first, second = (
        corpus(draw, {word: 2 + i for i, word in enumerate(part)})
        for part in (words[:9], words[3:])
    )
    calls = [(first, 2, specials), (second, 2, specials)]
    results = student.calls_in_turn(student.build_vocabulary, *calls)
    for (_, now), sentences in zip(results, (first, second), strict=True):
        itos, _ = expect_parts(now, 2, "two things, the list and the dictionary")
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
                "change the list itself: make a new one.",
                mistake="an argument is changed",
            )


# --- one_hot_embedding ------------------------------------------------------------


def embedding_mistakes(ids: Tensor, weight: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Name the mistake in the vectors of words."""
    w = weight.double()
    right = w[ids]
    return {
        "the rows of other words: each number is off by one": lambda: w[ids - 1],
        "the rows of the words after": lambda: w[(ids + 1) % len(w)],
        "the vectors times √d_model (that is the next layer's task)": lambda: (
            right * w.size(1) ** 0.5
        ),
        "one vector for all words of a sentence, their sum": lambda: right.sum(-2),
        "one vector for all words of a sentence, their mean": lambda: right.mean(-2),
        "the one-hot vectors themselves": lambda: torch.eye(len(w))[ids],
        "the table read with rows and columns confused": lambda: w.reshape(
            w.size(1), -1
        ).T[ids],
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
    title="(b, t) numbers give (b, t, d) vectors",
    form=True,
)
def test_one_hot_shape(student, draw):
    ids, weight = every_kind_of_id(draw, B, T), draw.normal(V, D)
    expect_shape(student.one_hot_embedding(ids, weight), (B, T, D), "The result")


@check("one-hot-embedding", share=3, title="Each word gets its row of the table")
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
        weight = draw.normal(n["words"], n["d_model"])
        if ids.numel() == 1:
            continue  # another check has axes of length 1
        with blame(SOME_SIZES):
            got = student.one_hot_embedding(ids, weight)
            expect_close(got, weight.double()[ids], "The result")


def ids_of_every_size(draw) -> Iterator[tuple[dict[str, int], Tensor]]:
    """Yield every order of sizes, and ids (b, t) that are not contiguous."""
    for n in orders_of(("b", "t", "words", "d_model")).values():
        yield n, draw.ids(n["t"], n["b"], low=0, high=n["words"]).T


@check(
    "one-hot-embedding", share=1, title="A batch without the last words of the table"
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
    "code that works for ids of (b, t) only": [(5,), (3, 4, 5)],
    "code that does not take one sentence of one word": [(1, 1)],
    "code that does not take a single number, ids of the shape ()": [()],
}


@check("one-hot-embedding", share=1, title="Numbers of any shape: (), (t,), (b, h, t)")
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
            "the vectors of an earlier call's words": calls[1][1].double()[calls[0][0]],
            "the vectors of an earlier call's table": calls[0][1].double()[calls[1][0]],
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


@check("one-hot-embedding", share=1, title="In float64, a transposed table, unchanged")
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
    """Keep only one gradient for each word: that of its last or first place."""
    table = torch.zeros(V, upstream.size(-1), dtype=torch.float64)
    rows = upstream.double().reshape(-1, upstream.size(-1))
    places = range(len(rows)) if last else reversed(range(len(rows)))
    for place in places:
        table[ids.flatten()[place]] = rows[place]
    return table


def gradient_mistakes(ids: Tensor, upstream: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Name the mistake in the gradient of a table."""
    g = upstream.double()
    right = reference.lookup_gradient(ids, g, V)
    counts = torch.bincount(ids.flatten(), minlength=V).double()[:, None]
    return {
        **place_mistakes(ids, upstream, right, counts),
        "the transposed gradient": lambda: right.T,
        "the number of places of each word, without their gradients": lambda: (
            counts.expand_as(right)
        ),
        "the gradient with the opposite sign": lambda: -right,
        "the sum times √d_model": lambda: right * g.size(-1) ** 0.5,
        "each word's gradient times the number of its places": lambda: right * counts,
        "nothing but zeros: a method without underscore returns a new tensor": lambda: (
            torch.zeros_like(right)
        ),
        **row_mistakes(ids, g, right, counts),
    }


def place_mistakes(
    ids: Tensor, upstream: Tensor, right: Tensor, counts: Tensor
) -> dict[str, Callable[[], Tensor]]:
    """Name the mistake in the gradient of a word with several places."""
    return {
        "the gradient of each word's last place alone; places should add up": lambda: (
            one_row_each(ids, upstream, last=True)
        ),
        "the gradient of each word's first place alone; places should add up": lambda: (
            one_row_each(ids, upstream, last=False)
        ),
        "the mean over the places of a word, not the sum": lambda: (
            right / counts.clamp(min=1)
        ),
        "the sum divided by the number of sentences": lambda: right / len(ids),
        "the sum divided by the number of tokens": lambda: right / ids.numel(),
    }


def row_mistakes(
    ids: Tensor, g: Tensor, right: Tensor, counts: Tensor
) -> dict[str, Callable[[], Tensor]]:
    """Name gradients whose rows are not one for each word of the vocabulary."""
    return {
        "the gradient without the rows of words that do not occur": lambda: right[
            counts[:, 0] > 0
        ],
        "a table with rows only up to the largest number in the batch": lambda: right[
            : int(ids.max()) + 1
        ],
        "a table for each sentence; their gradients should add up": lambda: torch.stack(
            [
                reference.lookup_gradient(row, own, V)
                for row, own in zip(ids, g, strict=True)
            ]
        ),
        "padding's row set to zero, although it was looked up": lambda: (
            right * (torch.arange(V) != 1)[:, None]
        ),
        "row 0 set to zero, although it was looked up": lambda: (
            right * (torch.arange(V) != 0)[:, None]
        ),
    }


def repeating_ids(draw, *shape: int) -> Tensor:
    """Draw ids: one several times, 0 and 1 once, 3 and the last ones never."""
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
    title="One row for each word of the vocabulary",
    form=True,
)
def test_lookup_gradient_shape(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    got = student.lookup_gradient(ids, upstream, V)
    if isinstance(got, Tensor) and got.shape != (V, D):
        mistakes = gradient_mistakes(ids, upstream)
        expect_close(got, torch.zeros(V, D), "The gradient", mistakes=mistakes)
    expect_shape(got, (V, D), "The gradient")


@check("lookup-gradient", share=3, title="A word's places add up")
def test_lookup_gradient_values(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    got = student.lookup_gradient(ids, upstream, V)
    want = reference.lookup_gradient(ids, upstream.double(), V)
    mistakes = gradient_mistakes(ids, upstream)
    expect_close(got, want, "The gradient", mistakes=mistakes)


@check("lookup-gradient", share=1, title="It is what autograd finds, for any shape")
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


@check("lookup-gradient", share=1, title="Many places, many rows; each call by itself")
def test_lookup_gradient_again(student, draw):
    def right(ids: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
        return reference.lookup_gradient(ids, upstream.double(), vocab_size)

    function, what = student.lookup_gradient, "the gradient"
    calls = [(repeating_ids(draw, 7, 2), draw.normal(7, 2, D), V) for _ in range(2)]
    expect_each_call_anew(student, function, calls, right, what)
    expect_same_device(student, function, *calls[0], what=what)
    many = draw.ids(6, 150, low=0, high=2), draw.normal(6, 150, 2), MANY
    with blame("code that works for few places or rows only"):
        what = "The gradient of a larger table"
        expect_close(function(*many), right(*many), what, tolerance=1e-4)
    for n, ids in ids_of_every_size(draw):
        given = ids, draw.normal(*ids.shape, n["d_model"]), n["words"]
        with blame(SOME_SIZES):
            expect_close(function(*given), right(*given), "The gradient")


@check("lookup-gradient", share=1, title="Not contiguous, in float64")
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
    title="Written by you; the arguments left as they were",
    form=True,
    bans=("lookup_gradient", AUTOGRAD),
)
def test_lookup_gradient_leaves_inputs(student, draw):
    ids, upstream = repeating_ids(draw, B, 5), draw.normal(B, 5, D)
    function = student.lookup_gradient
    function(ids, upstream, V)
    words = "autograd's work"
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
                "TokenEmbedding(vocab_size, d_model) should have one parameter, "
                "the table of shape ({vocab_size}, {d_model}), but yours have the "
                "shapes {shapes}.",
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
    """Name the mistake in the scaled vectors."""
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
        "the vectors scaled to the length √d_model": lambda: (
            vectors / vectors.norm(dim=-1, keepdim=True) * root
        ),
        "the vectors plus √d_model, not times": lambda: vectors + root,
        "one vector for all words of a sentence": lambda: vectors.sum(-2) * root,
    }


@check(
    "token-embedding",
    share=1,
    title="(b, t) numbers give (b, t, d) vectors",
    form=True,
)
def test_layer_shape(student, draw):
    layer, _ = layer_with_table(student, draw)
    got = layer(every_kind_of_id(draw, B, T))
    expect_shape(got, (B, T, D), "The result")


@check("token-embedding", share=3, title="Looked up, and times √d_model")
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
            "No gradient reaches the table: .detach(), .data, torch.no_grad() or a "
            "new tensor of its numbers cuts it off. The words could never be trained.",
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


@check("token-embedding", share=1, title="float64, twice the same, the table unchanged")
def test_layer_leaves_its_table(student, draw):
    layer, table = layer_with_table(student, draw, torch.float64)
    ids = every_kind_of_id(draw, 1, T)
    first, second = layer(ids), layer(ids)
    expect_dtype(first, torch.float64, "the result")
    (name,) = layer.parameters_by_name()
    if not torch.equal(layer.state_dict()[name], table):
        fail(
            "Calling the layer changed its table: the next call looks up other "
            "numbers. Scale what you return, not the table.",
            mistake="the table is changed by the call",
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
        student, layer, calls, right, Phrase("in evaluation {what}", what)
    )
    expect_table_read_anew(student, layer, calls[0][0], right)
    expect_other_width(student, draw)


def expect_table_read_anew(student, layer, ids: Tensor, right: Callable) -> None:
    """Fail if a layer in evaluation uses an old copy of its table."""
    old = right(ids)
    (name,) = layer.parameters_by_name()
    layer.load_state_dict({name: 3 * layer.state_dict()[name]}, strict=False)
    what = "After other numbers have come into the table, the result"
    expect_close(layer(ids), 3 * old, what, {KEPT_TABLE: old})


def expect_other_width(student, draw) -> None:
    """Fail if a second layer, with another width, uses the factor of the first one."""
    layer = student.TokenEmbedding(V, 4 * D)
    ((name, shape),) = layer.parameters_by_name().items()
    table = draw.normal(*shape)
    layer.load_state_dict({name: table}, strict=False)
    ids = draw.ids(B, T, low=0, high=V)
    wide = table.double()[ids]
    named = {
        "the vectors with the factor of a layer of a different width": wide * D**0.5,
        "the vectors without the factor √d_model": wide,
    }
    what = "The result of a second layer, with a different width,"
    expect_close(layer(ids), wide * (4 * D) ** 0.5, what, named)
    for n, ids in ids_of_every_size(draw):
        layer = student.TokenEmbedding(n["words"], n["d_model"])
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
    """Make an embedding's table and a projection with random weights."""
    embedding = student.load("torch.nn.Module")()
    table = student.load("torch.nn.Embedding")(V, D)
    embedding.add_module("table", table)
    projection = student.load("torch.nn.Linear")(D, V)
    states = [draw.state(m.parameters_by_name()) for m in (table, projection)]
    for module, state in zip((table, projection), states, strict=True):
        module.load_state_dict(state)
    return embedding, table, projection, states


@check("tie-weights", share=1, title="The projection has the embedding's matrix")
def test_tying_values(student, draw):
    embedding, table, projection, (rows, old) = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    tied, kept = projection.state_dict(), table.state_dict()
    if torch.equal(kept["weight"], old["weight"]):
        fail(
            "The embedding has lost its matrix: the projection's stands in its place. "
            "It should be the other way round.",
            mistake="the projection's matrix in the embedding",
        )
    expect_close(kept["weight"], rows["weight"], "The embedding's matrix")
    mistakes = {
        "the old one: nothing was tied": old["weight"],
        "the embedding's matrix in another order (a view instead of itself)": (
            rows["weight"].reshape(D, V).T
        ),
    }
    expect_close(tied["weight"], rows["weight"], "The projection's matrix", mistakes)
    if "bias" not in tied:
        fail("The projection has lost its bias.", mistake="the bias is gone")
    expect_close(tied["bias"], old["bias"], "The projection's bias")
    bare = student.load("torch.nn.Linear")(D, V, bias=False)
    with blame("code that counts on a bias"):
        student.tie_weights(embedding, bare)
        got = bare.state_dict()["weight"]
        expect_close(got, rows["weight"], "The matrix of a projection without a bias")


@check("tie-weights", share=2, title="Both ends are one parameter")
def test_tying_makes_one_parameter(student, draw):
    embedding, table, projection, _ = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    both = student.load("torch.nn.ModuleList")([table, projection])
    shapes = both.parameters_by_name()
    if sorted(shapes) == ["0.weight", "1.bias"]:
        return
    if "1.weight" not in shapes:
        fail(
            Phrase("Expected one matrix and one bias, found {shapes}.", sorted(shapes))
        )
    new = {"weight": draw.normal(V, D)}
    table.load_state_dict(new)
    if torch.equal(projection.state_dict()["weight"], new["weight"]):
        fail(
            "The two matrices share their memory, but they are still two parameters: "
            "an optimiser would move the same numbers twice.",
            mistake="memory shared through .data, still two parameters",
        )
    fail(
        "The two matrices are still two parameters, each trained by itself.",
        mistake="a copy, not one parameter",
    )


@check("tie-weights", share=1, title="What moves one end moves the other")
def test_tying_lasts(student, draw):
    embedding, table, projection, _ = two_layers(student, draw)
    student.tie_weights(embedding, projection)
    new = {"weight": draw.normal(V, D)}
    table.load_state_dict(new)
    moved = projection.state_dict()["weight"]
    if not torch.equal(moved, new["weight"]):
        fail(
            "The embedding's matrix was changed, as training does, and the "
            "projection's stayed behind.",
            mistake="a copy, not one parameter",
        )


@check("tie-weights", share=1, title="The gradients of both ends add up")
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
            "No gradient reaches the shared matrix. Is it still a trained parameter?",
            mistake="the gradient is cut off",
        )
    mistakes = {
        "that of the lookup alone: a copy, not one parameter": weight.grad,
        "that of the projection alone": other.grad,
    }
    want = weight.grad + other.grad
    expect_close(got, want, "The matrix's gradient", mistakes, tolerance=1e-4)
    bias = run.parameters.get("1.bias")
    if bias is None:
        fail(
            "No gradient reaches the projection's bias, which had one before.",
            mistake="a bias that is no longer trained",
        )
