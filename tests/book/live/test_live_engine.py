"""The engine in a real browser computes and finds the same as PyTorch."""

import base64
import itertools

import pytest
import torch
from asked import (
    as_floats,
    ask_beams,
    ask_logits,
    assert_same_hypotheses,
    greedy_of,
    hypotheses_of,
    logits_of,
)

from transformer.config import TransformerConfig
from transformer.data import Vocabulary, detokenize, make_grammar_corpus, tokenize
from transformer.data.special_tokens import SPECIAL_TOKENS
from transformer.model import Transformer
from transformer.training.page_file import page_file
from transformer.translation.beams import SearchSettings

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]
NEAR = {"atol": 1e-4, "rtol": 0.0}
POSITIONS, INNER = ("learned", "sinusoidal", "none"), ("linear", "conv")
VARIANTS = [
    *itertools.product(POSITIONS, INNER, (False, True), ("none", "target", "all"))
]
ALPHAS = (0.0, 0.6, 1.0)


def random_file(config: TransformerConfig) -> tuple[Transformer, str]:
    """Make a random model in the format of its file, and return the file in base64."""
    model = Transformer(config).eval()
    sizes = (config.src_vocab_size, config.tgt_vocab_size)
    with torch.no_grad():
        for parameter in model.parameters():
            # Larger than at the start of training, so that the scores of words differ.
            parameter.copy_(
                (1.3 * parameter + 0.05 * torch.randn_like(parameter)).half()
            )
    words = [
        Vocabulary([*SPECIAL_TOKENS, *(f"w{i}" for i in range(n - 4))]) for n in sizes
    ]
    content = page_file(model, (words[0], words[1]))
    return model, base64.b64encode(content).decode("ascii")


def random_sources(size: int, count: int) -> list[list[int]]:
    lengths = torch.randint(3, 9, (count,)).tolist()
    return [[2, *torch.randint(4, size, (n,)).tolist(), 3] for n in lengths]


@pytest.fixture
def tiny(engine):
    """Open the page with the shipped model."""
    engine.evaluate("() => ask.open()")
    return engine


def test_logits_of_200_sentences(tiny, shipped, sources):
    for src, written in zip(sources, greedy_of(shipped.model, sources), strict=True):
        expected = logits_of(shipped.model, src, written[:-1])
        for found in ask_logits(tiny, src, written[:-1]):
            torch.testing.assert_close(found, expected, **NEAR)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_greedy_translations_of_200_sentences(tiny, shipped, sources, alpha):
    found = ask_beams(tiny, sources, SearchSettings(1, alpha))
    assert [beams[0][0] for beams in found] == greedy_of(shipped.model, sources)


@pytest.mark.parametrize(
    ("k", "alpha"),
    [
        (5, 0.6),
        *(
            pytest.param(k, alpha, marks=pytest.mark.slow)
            for k, alpha in itertools.product((2, 3, 4, 5), ALPHAS)
            if (k, alpha) != (5, 0.6)
        ),
    ],
)
def test_all_hypotheses_of_200_sentences(tiny, shipped, sources, k, alpha):
    settings = SearchSettings(k, alpha, max_len=20)
    expected = hypotheses_of(shipped.model, sources, settings)
    assert_same_hypotheses(ask_beams(tiny, sources, settings), expected)


def test_plain_javascript_computes_the_same(engine, shipped, sources):
    engine.evaluate("() => ask.open(null, true)")
    for src, written in zip(
        sources[:5], greedy_of(shipped.model, sources[:5]), strict=True
    ):
        expected = logits_of(shipped.model, src, written)
        for found in ask_logits(engine, src, written):
            torch.testing.assert_close(found, expected, **NEAR)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_of_the_configuration(engine, variant):
    names = ("positions", "feed_forward", "norm_first", "tie")
    sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 18, "max_len": 16}
    config = TransformerConfig(
        21, 21, **sizes, **dict(zip(names, variant, strict=True))
    )
    model, file = random_file(config)
    engine.evaluate("(file) => ask.open(file)", file)
    sources = random_sources(21, 3)
    for src in sources:
        tgt = [2, *torch.randint(0, 21, (7,)).tolist()]  # <pad> may be one of them
        for found in ask_logits(engine, src, tgt):
            torch.testing.assert_close(found, logits_of(model, src, tgt), **NEAR)
    settings = SearchSettings(5, 0.6, max_len=8)
    expected = hypotheses_of(model, sources, settings)
    assert_same_hypotheses(ask_beams(engine, sources, settings), expected)


@pytest.mark.slow
def test_a_model_of_multi30k_s_size(engine):
    model, file = random_file(TransformerConfig.tutorial())
    engine.evaluate("(file) => ask.open(file)", file)
    [src] = random_sources(7853, 1)
    tgt = [2, *torch.randint(4, 5893, (9,)).tolist()]
    for found in ask_logits(engine, src, tgt):
        torch.testing.assert_close(found, logits_of(model, src, tgt), **NEAR)
    settings = SearchSettings(5, 0.6, max_len=12)
    expected = hypotheses_of(model, [src], settings)
    assert_same_hypotheses(ask_beams(engine, [src], settings), expected)


def test_without_the_mask_words_see_later_ones(tiny, shipped, sources):
    """At inference, few translations change, because later words do not exist yet."""
    asked = {"k": 1, "alpha": 0.0, "maxLen": 20, "changes": {"causal": False}}
    found = tiny.evaluate(
        "([s, asked]) => s.map((x) => ask.beams(x, asked))", [sources, asked]
    )
    same = [
        beams[0][0] == ids
        for beams, ids in zip(found, greedy_of(shipped.model, sources), strict=True)
    ]
    assert 0 < same.count(False) < 50


def test_the_tokeniser_is_spacys_on_all_test_sentences(engine):
    joined = [" ".join(pair.src) for pair in make_grammar_corpus().test]
    written = [detokenize(text.split()).capitalize() for text in joined]
    texts = [*joined, *written]
    found = engine.evaluate(
        "(texts) => texts.map((text) => CourseLive.tokenize(text))", texts
    )
    assert found == [tokenize(text, "de") for text in texts]


def test_half_precision_is_read_exactly(engine):
    """The page and PyTorch read every number of half precision."""
    from safetensors.torch import save

    halves = torch.arange(-32768, 32768).to(torch.int16).view(torch.half)
    numbers = {
        "f16": halves,
        "bf16": halves.view(torch.bfloat16).clone(),
        "f32": halves.float(),
    }
    content = base64.b64encode(save(numbers)).decode("ascii")
    for name, expected in numbers.items():
        text = engine.evaluate(
            "([file, name]) => ask.numbers(file, name)", [content, name]
        )
        torch.testing.assert_close(
            as_floats(text), expected.float(), rtol=0, atol=0, equal_nan=True
        )
