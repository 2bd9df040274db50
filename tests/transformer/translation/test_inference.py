"""Check the searches against plain loops, exhaustive search and each other."""

import itertools

import pytest
import torch
from random_models import (
    PAD,
    end_after_about,
    make_model,
    make_sources,
    strip_padding,
    variants,
)
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.translation.beams import EOS_ID, SOS_ID, SearchSettings, length_penalty
from transformer.translation.cache import CachedTransformer
from transformer.translation.inference import (
    beam_search,
    decode_step_cached,
    greedy_decode,
)


def one_by_one(model: Transformer, row: Tensor, max_len: int) -> list[int]:
    """Decode one unpadded sentence greedily, with only `forward`."""
    src = row[row != PAD].unsqueeze(0)
    words = [SOS_ID]
    while len(words) <= max_len and words[-1] != EOS_ID:
        words.append(int(model(src, torch.tensor([words]))[0, -1].argmax()))
    return words


@variants
@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
def test_greedy_equals_each_sentence_alone(variant, cached):
    model = end_after_about(make_model(**variant), 1.5)
    src = make_sources()
    with torch.no_grad():
        expected = [one_by_one(model, row, max_len=9) for row in src]
    decoder = CachedTransformer(model, decode_step_cached) if cached else model
    found = greedy_decode(decoder, src, max_len=9)
    assert [strip_padding(row) for row in found] == expected
    lengths = {len(words) for words in expected}
    assert len(lengths) > 1, "the test must have sentences of different lengths"


def test_nothing_but_padding_after_the_end():
    found = greedy_decode(end_after_about(make_model(), 1.5), make_sources(), 9)
    ended = (found == EOS_ID).cumsum(1) - (found == EOS_ID).long() > 0
    assert ended.any()
    assert (found[ended] == PAD).all()


def test_greedy_stops_with_the_last_sentence():
    always_ends = end_after_about(make_model(), 100.0)
    assert greedy_decode(always_ends, make_sources()).tolist() == [[SOS_ID, EOS_ID]] * 6
    never_ends = end_after_about(make_model(), -100.0)
    assert greedy_decode(never_ends, make_sources(), max_len=4).shape == (6, 5)


@variants
def test_cached_logits_and_weights_equal_the_uncached(variant):
    model, src = make_model(**variant), make_sources()
    tgt = torch.randint(4, 13, (6, 8), generator=torch.Generator().manual_seed(2))
    tgt[:, 0], tgt[2, 3], tgt[4, 5:] = SOS_ID, PAD, PAD
    cached = CachedTransformer(model, decode_step_cached).eval()
    with torch.no_grad():
        expected, expected_weights = model.decode(tgt, model.encode(src), src)
        memory = cached.encode(src)
        steps = [cached.decode(tgt[:, : i + 1], memory, src) for i in range(8)]
    found = torch.cat([logits for logits, _ in steps], dim=1)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for layer, weights in enumerate(expected_weights):
        in_steps = torch.cat([all_layers[layer] for _, all_layers in steps], dim=2)
        torch.testing.assert_close(in_steps, weights, atol=1e-5, rtol=1e-5)


def test_cache_projects_the_source_once_and_each_token_once():
    model = make_model()
    rows = {"self": 0, "cross": 0}

    def count(name):
        def hook(module, inputs, output):
            rows[name] += inputs[0].size(1)

        return hook

    for layer in model.decoder.layers:
        layer.self_attention.w_k.register_forward_hook(count("self"))
        layer.cross_attention.w_k.register_forward_hook(count("cross"))
    decoder = CachedTransformer(model, decode_step_cached)
    written = greedy_decode(decoder, make_sources(), 9).size(1) - 1
    assert rows == {"self": 2 * written, "cross": 2 * 7}


def test_cache_takes_one_token_at_a_time():
    cached = CachedTransformer(make_model(), decode_step_cached)
    memory = cached.encode(make_sources())
    with pytest.raises(ValueError, match="holds 0 tokens, so it takes a sentence of 1"):
        cached.decode(torch.full((6, 2), SOS_ID), memory, make_sources())


@variants
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_beam_of_one_is_greedy(variant, alpha):
    model, src = end_after_about(make_model(**variant), 1.5), make_sources()
    found, _ = beam_search(model, src, SearchSettings(1, alpha, max_len=9))
    assert torch.equal(found.squeeze(1), greedy_decode(model, src, max_len=9))


def every_hypothesis(model: Transformer, row: Tensor, settings: SearchSettings):
    """Yield every hypothesis for one sentence, and its score, with only `forward`."""
    words = range(model.config.tgt_vocab_size)
    going_on = [word for word in words if word != settings.eos_id]
    src = row[row != PAD].unsqueeze(0)
    for n in range(1, settings.max_len + 1):
        last = words if n == settings.max_len else [settings.eos_id]
        for hypothesis in itertools.product(*[going_on] * (n - 1), last):
            tgt = torch.tensor([[settings.sos_id, *hypothesis]])
            log_prob = model(src, tgt[:, :-1])[0].log_softmax(dim=-1)
            total = log_prob.gather(1, tgt[0, 1:, None]).sum().item()
            yield hypothesis, total / ((5 + n) / 6) ** settings.length_penalty


@pytest.mark.integration
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
def test_beam_of_everything_is_exhaustive_search(alpha, cached):
    model = make_model(seed=3, tgt_vocab_size=5)
    src = make_sources()[1:4]
    settings = SearchSettings(120, alpha, max_len=3)
    decoder = CachedTransformer(model, decode_step_cached) if cached else model
    found, score = beam_search(decoder, src, settings)
    for row, hypotheses, values in zip(src, found, score, strict=True):
        with torch.no_grad():
            expected = list(every_hypothesis(model, row, settings))
        expected.sort(key=lambda pair: -pair[1])
        n = len(expected)
        torch.testing.assert_close(
            values[:n], torch.tensor([value for _, value in expected])
        )
        assert torch.isneginf(values[n:]).all()
        best = strip_padding(hypotheses[0])[1:]
        assert tuple(best) == expected[0][0]
        assert {tuple(strip_padding(h)[1:]) for h in hypotheses[:n]} == {
            hypothesis for hypothesis, _ in expected
        }


@variants
def test_cached_beam_equals_plain_beam(variant):
    model, src = end_after_about(make_model(**variant), 1.0), make_sources()
    settings = SearchSettings(3, 0.6, max_len=9)
    expected, expected_score = beam_search(model, src, settings)
    cached = CachedTransformer(model, decode_step_cached)
    found, score = beam_search(cached, src, settings)
    assert torch.equal(found, expected)
    torch.testing.assert_close(score, expected_score, atol=1e-5, rtol=1e-5)


def test_batch_mates_do_not_change_a_beam():
    model, src = end_after_about(make_model(), 1.0), make_sources()
    settings = SearchSettings(3, 0.6, max_len=9)
    together, score = beam_search(model, src, settings)
    for i, row in enumerate(src):
        alone, alone_score = beam_search(model, row[row != PAD][None], settings)
        torch.testing.assert_close(score[i], alone_score[0], atol=1e-5, rtol=1e-5)
        assert [strip_padding(h) for h in together[i]] == [
            strip_padding(h) for h in alone[0]
        ]


class Table(nn.Module):
    """A "model" that reads the next word's probabilities from a table of prefixes."""

    def __init__(self, table: dict[tuple[int, ...], list[float]]) -> None:
        super().__init__()
        self.table = table
        self.config = TransformerConfig(6, 6)
        self.widths: list[int] = []

    def encode(self, src: Tensor) -> Tensor:
        return src.unsqueeze(-1).float()

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor):
        self.widths.append(len(tgt))
        end = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        rows = [self.table.get(tuple(row), end) for row in tgt.tolist()]
        return torch.tensor(rows).log().unsqueeze(1), []


A, B = 4, 5
GREEDY_LOSES = {
    (SOS_ID,): [0, 0, 0, 0, 0.6, 0.4],
    (SOS_ID, A): [0, 0, 0, 0, 0.5, 0.5],
    (SOS_ID, B): [0, 0, 0, 0, 0.1, 0.9],
}


def test_beam_finds_what_greedy_misses():
    src = torch.tensor([[4]])
    greedy = greedy_decode(Table(GREEDY_LOSES), src)
    found, score = beam_search(Table(GREEDY_LOSES), src, SearchSettings(2, 0.0))
    assert greedy.tolist() == [[SOS_ID, A, A, EOS_ID]]
    assert found[0, 0].tolist() == [SOS_ID, B, B, EOS_ID]
    assert score[0].exp().tolist() == pytest.approx([0.36, 0.30])


def test_beam_is_pruned_to_k_after_every_word():
    table = Table(GREEDY_LOSES)
    beam_search(table, torch.tensor([[4], [5]]), SearchSettings(3))
    assert table.widths == [6, 6, 6]


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, [A, EOS_ID]), (1.0, [B, B, B])])
def test_length_penalty_lets_longer_ones_win(alpha, expected):
    table = Table(
        {
            (SOS_ID,): [0, 0, 0, 0, 0.52, 0.48],
            (SOS_ID, A): [0, 0, 0, 0.9, 0.1, 0],
            (SOS_ID, B): [0, 0, 0, 0, 0, 1.0],
            (SOS_ID, B, B): [0, 0, 0, 0, 0.1, 0.9],
        }
    )
    found, _ = beam_search(table, torch.tensor([[4]]), SearchSettings(2, alpha))
    assert found[0, 0, 1 : 1 + len(expected)].tolist() == expected


def test_length_penalty_is_that_of_the_paper():
    found = length_penalty(torch.tensor([1, 7, 13]), 0.5)
    torch.testing.assert_close(found, torch.tensor([1.0, 2.0**0.5, 3.0**0.5]))
    assert length_penalty(torch.tensor([9]), 0.0).item() == 1.0


def test_searches_switch_dropout_off_and_back():
    model, src = make_model(dropout=0.5).train(), make_sources()
    first, again = greedy_decode(model, src, 5), greedy_decode(model, src, 5)
    assert torch.equal(first, again)
    assert model.training
    beam_search(model.eval(), src, SearchSettings(2, max_len=2))
    assert not model.training


@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
def test_table_of_positions_ends_the_search_clearly(cached):
    model = end_after_about(make_model(max_len=8), -100.0)
    decoder = CachedTransformer(model, decode_step_cached) if cached else model
    with pytest.raises(ValueError, match="9 tokens, but there are positions for 8"):
        greedy_decode(decoder, make_sources(), max_len=20)
    with pytest.raises(ValueError, match="9 tokens, but there are positions for 8"):
        greedy_decode(decoder, torch.full((1, 9), 5), max_len=3)


@pytest.mark.parametrize("values", [(0, 0.6, 5), (4, -1.0, 5), (4, 0.6, 0)], ids=str)
def test_settings_refuse_an_empty_search(values):
    with pytest.raises(ValueError, match=f"found {values[0]}, {values[2]} and"):
        SearchSettings(*values)
