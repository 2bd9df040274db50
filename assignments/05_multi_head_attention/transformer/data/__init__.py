"""Training data: the course's own corpus, Multi30k, and batches of sentence pairs.

`make_grammar_corpus` and `load_multi30k` return a `Corpus` of `SentencePair`s.
`word_counts.build_vocabularies` numbers its words, `learn_subwords` splits them into
pieces, and `make_batches` pads the sentences. `make_reversal_pairs` makes the smallest
task.
"""

from .batches import (
    Batch,
    Batches,
    BatchSource,
    check_device,
    make_batches,
    trim_padding,
)
from .grammar import AMBIGUOUS_WORDS, RUNNING_EXAMPLE, make_grammar_corpus
from .multi30k import download_multi30k, load_multi30k
from .pairs import Corpus, SentencePair
from .reversal import make_reversal_pairs
from .special_tokens import (
    EOS,
    EOS_ID,
    PAD,
    PAD_ID,
    SOS,
    SOS_ID,
    SPECIAL_TOKENS,
    UNK,
    UNK_ID,
)
from .subwords import Subwords, learn_subwords
from .tokens import detokenize, tokenize
from .vocabulary import Vocabularies, Vocabulary, share_subwords

__all__ = [
    "AMBIGUOUS_WORDS",
    "EOS",
    "EOS_ID",
    "PAD",
    "PAD_ID",
    "RUNNING_EXAMPLE",
    "SOS",
    "SOS_ID",
    "SPECIAL_TOKENS",
    "UNK",
    "UNK_ID",
    "Batch",
    "BatchSource",
    "Batches",
    "Corpus",
    "SentencePair",
    "Subwords",
    "Vocabularies",
    "Vocabulary",
    "check_device",
    "detokenize",
    "download_multi30k",
    "learn_subwords",
    "load_multi30k",
    "make_batches",
    "make_grammar_corpus",
    "make_reversal_pairs",
    "share_subwords",
    "tokenize",
    "trim_padding",
]
