"""BERT's rule hides words, and a model with only an encoder learns to predict them."""

import pytest
import torch
import torch.nn.functional as F

from transformer.config import TransformerConfig
from transformer.data import make_grammar_corpus
from transformer.encoder import Encoder
from transformer.experiments.fitting import FitSettings, fit
from transformer.experiments.glossing import Glosser
from transformer.one_stack.masked_words import mask_words
from transformer.one_stack.sentences import N_SPECIAL, NOT_ASKED, english_sentences

MASK = 50
IDS = torch.randint(0, MASK, (300, 200), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("share", [0.0, 0.15, 0.6, 1.0])
def test_a_share_of_the_words_is_asked_for_as_they_were(share: float) -> None:
    before = IDS.clone()
    read, asked = mask_words(IDS, MASK, share, torch.Generator().manual_seed(1))
    chosen, words = asked != NOT_ASKED, IDS >= N_SPECIAL
    assert torch.equal(IDS, before)
    assert not (chosen & ~words).any()
    assert torch.equal(asked[chosen], IDS[chosen])
    assert torch.equal(read[~chosen], IDS[~chosen])
    assert abs(chosen[words].double().mean() - share) < 0.02


def test_of_the_chosen_most_are_hidden_and_some_are_other_words() -> None:
    read, asked = mask_words(IDS, MASK, 1.0, torch.Generator().manual_seed(1))
    chosen = asked != NOT_ASKED
    hidden, kept = read[chosen] == MASK, read[chosen] == IDS[chosen]
    other = read[chosen][~hidden & ~kept]
    shares = [part.double().mean() for part in (hidden, ~hidden & ~kept, kept)]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)
    assert set(other.tolist()) == set(range(N_SPECIAL, MASK))


def test_the_generator_is_the_only_chance() -> None:
    state = torch.get_rng_state()
    read, _ = mask_words(IDS, MASK, generator=torch.Generator().manual_seed(3))
    again, _ = mask_words(IDS, MASK, generator=torch.Generator().manual_seed(3))
    other, _ = mask_words(IDS, MASK, generator=torch.Generator().manual_seed(4))
    assert torch.equal(read, again) and not torch.equal(read, other)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.integration
def test_an_encoder_alone_learns_from_hidden_words() -> None:
    sentences = english_sentences(make_grammar_corpus())
    mask_id = len(sentences.vocabulary)
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 1, "d_ff": 32, "dropout": 0.0}
    config = TransformerConfig(mask_id + 1, mask_id + 1, **sizes)
    torch.manual_seed(0)
    model, chance = Glosser(config, Encoder(config)), torch.Generator().manual_seed(0)

    def loss_of(rows: torch.Tensor) -> torch.Tensor:
        read, asked = mask_words(sentences.train[rows], mask_id, generator=chance)
        logits = model(read).transpose(1, 2)
        return F.cross_entropy(logits, asked, ignore_index=NOT_ASKED)

    settings = FitSettings(steps=60, batch_size=32)
    losses = fit(model, loss_of, len(sentences.train), settings)
    assert sum(losses[-10:]) < 0.9 * sum(losses[:10])
