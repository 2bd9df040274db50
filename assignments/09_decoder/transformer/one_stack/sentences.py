"""Training sentences of one language, and a loop that continues sentences.

The loop works with any model that returns logits, and the module imports no model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.data import EOS_ID, PAD_ID, SPECIAL_TOKENS, Corpus, Vocabulary
from transformer.data.word_counts import build_vocabulary

N_SPECIAL = len(SPECIAL_TOKENS)  # smaller ids are not words
NOT_ASKED = -100  # target that `torch.nn.functional.cross_entropy` ignores

Score = Callable[[Tensor], Tensor]
Choose = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Sentences:
    """Hold the English sentences of a corpus, numbered and padded.

    Attributes:
        train: (n, t) word numbers from `<sos>` to `<eos>`, for training.
        test: (m, t'), from sentences that are not in `train`.
        vocabulary: the words of the training sentences.
    """

    train: Tensor
    test: Tensor
    vocabulary: Vocabulary

    def spell(self, ids: Tensor) -> str:
        """Return the words of one row, without special tokens."""
        return " ".join(self.vocabulary.decode(ids))


def english_sentences(corpus: Corpus) -> Sentences:
    """Number the English sentences of a corpus, none in both training and test."""
    train = list(dict.fromkeys(pair.tgt for pair in corpus.train))
    known = set(train)
    test = [pair.tgt for pair in corpus.test if pair.tgt not in known]
    vocabulary = Vocabulary(build_vocabulary(train)[0])
    return Sentences(
        numbered(train, vocabulary), numbered(test, vocabulary), vocabulary
    )


def numbered(sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Tensor:
    """Return the ids of sentences (n, t), padded to the longest sentence."""
    rows = [torch.tensor(vocabulary.encode(words)) for words in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)


def likeliest(logits: Tensor) -> Tensor:
    """Choose the likeliest next word for each of b sentences, from logits (b, V)."""
    return logits.argmax(dim=-1)


@torch.no_grad()
def write_on(
    score: Score, ids: Tensor, choose: Choose = likeliest, max_len: int = 20
) -> Tensor:
    """Continue sentences, word by word, until each has ended.

    Args:
        score: a function from word numbers (b, t) to the logits of the next word after
            each, (b, t, V).
        ids: (b, t), prefixes of equal length, from `<sos>`.
        choose: a function from the logits of the next word (b, V) to its number (b,).
        max_len: maximum number of tokens to write.

    Returns:
        Ids (b, t') including the prefixes, with only padding after `<eos>`.
    """
    ended = torch.zeros_like(ids[:, 0], dtype=torch.bool)
    for _ in range(max_len):
        word = choose(score(ids)[:, -1]).masked_fill(ended, PAD_ID)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
        ended = ended | (word == EOS_ID)
        if ended.all():
            break
    return ids
