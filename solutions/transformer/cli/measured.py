"""Read the sentences for evaluating a checkpoint, and score its translations."""

from dataclasses import dataclass
from pathlib import Path

from transformer.cli.options import read_corpus
from transformer.data import SentencePair, Vocabularies
from transformer.data.multi30k import SPLITS, find_multi30k, read_pairs
from transformer.own_files.prepare import SENTENCES, load_prepared
from transformer.own_files.text import PairedText, require_different_files
from transformer.training.checkpoints import Checkpoint, require_same_words
from transformer.training.presets import CorpusName, load_texts, split_texts
from transformer.translation.evaluation import (
    Bleu,
    as_words,
    has_torchtext,
    text_bleu,
    text_chrf,
    tutorial_bleu,
)


@dataclass(frozen=True)
class Measured:
    """Hold the sentences on which a model is evaluated.

    Attributes:
        name: the name of the test set.
        corpus: the corpus that it belongs to.
        pairs: the sentence pairs, split into the model's words or subwords.
        words: the model's vocabularies.
    """

    name: str
    corpus: CorpusName
    pairs: tuple[SentencePair, ...]
    words: Vocabularies


def read_measured(
    checkpoint: Checkpoint,
    path: Path,
    corpus: CorpusName,
    folder: Path | None,
    split: str,
    files: tuple[Path | None, Path | None],
) -> Measured:
    """Read the sentences for evaluating a checkpoint, split into the model's tokens.

    Args:
        checkpoint: the checkpoint, with its words or subwords.
        path: path of the checkpoint. A run on the user's own files keeps their
            sentences in the same folder.
        corpus: the corpus.
        folder: folder with Multi30k's files.
        split: the part of the corpus, such as "test".
        files: two text files with one sentence per line, to evaluate on instead.

    Raises:
        ValueError: if the corpus has no such part, or the model has other words.
    """
    words = checkpoint.vocabularies()
    src, tgt = files
    if corpus is CorpusName.files:
        pairs, name = _own_pairs(words, path, split, src, tgt)
        return Measured(name, corpus, pairs, words)
    if src or tgt:
        raise ValueError("--src and --tgt go with --data files")
    if corpus is CorpusName.grammar and (path.parent / SENTENCES).is_dir():
        raise ValueError(f"{path} was trained on text files: give --data files")
    _require_part(corpus, folder, split)
    if subwords := words[0].subwords:
        pairs = split_texts(load_texts(corpus, folder, split), subwords)
    else:
        known, asked = read_corpus(corpus, folder)
        require_same_words(path, words, asked)
        parts = dict(known.splits())
        pairs = parts.get(split) or read_pairs(find_multi30k(folder), split)
    return Measured(split, corpus, pairs, words)


def _require_part(corpus: CorpusName, folder: Path | None, split: str) -> None:
    """Raise ValueError if a corpus has no such part; Multi30k may have extra ones."""
    if corpus is CorpusName.grammar and split not in ("valid", "test"):
        raise ValueError(f"the grammar has no part {split!r}: valid or test")
    if corpus is CorpusName.grammar or split in SPLITS:
        return
    place = find_multi30k(folder)
    if not any((place / f"{split}.de{end}").is_file() for end in ("", ".gz")):
        raise ValueError(
            f"expected {split}.de.gz and {split}.en.gz in {place}, found none: of "
            "Multi30k's test sets only test_2016_flickr is fetched; put another one "
            "there yourself"
        )


def _own_pairs(
    words: Vocabularies, path: Path, split: str, src: Path | None, tgt: Path | None
) -> tuple[tuple[SentencePair, ...], str]:
    """Return the pairs of two files, or of the run's own data, and a name for them."""
    subwords = words[0].subwords
    if subwords is None:
        raise ValueError(
            f"{path} knows the words of a corpus and reads no files: name the corpus "
            "with --data"
        )
    if src and tgt:
        text = PairedText(src, tgt)
        require_different_files([text])
        return split_texts(text, subwords), src.name
    if src or tgt:
        raise ValueError("--src and --tgt go together")
    return load_prepared(path.parent).pairs(split), split


def scores_of(
    translations: list[list[str]], measured: Measured
) -> list[tuple[str, Bleu]]:
    """Score translations, and return each score with its name.

    If torchtext is installed, also compute the tutorial's BLEU, except for the user's
    own files. For that score, text from subwords is first split into spaCy's tokens.
    """
    join = measured.words[1].join
    references = [pair.tgt for pair in measured.pairs]
    texts = list(map(join, translations)), list(map(join, references))
    scores: list[tuple[str, Bleu]] = []
    if measured.corpus is CorpusName.files:
        kind = "text"
    elif measured.words[1].subwords:
        kind = "lower-cased text"
        if has_torchtext():
            tokens = [as_words(text)[:-1] for text in texts[1]]
            split = [as_words(text) for text in texts[0]]
            scores.append(("BLEU", tutorial_bleu(split, tokens)))
    else:
        kind = "detokenised lower-cased text"
        if has_torchtext():
            scores.append(("BLEU", tutorial_bleu(translations, references)))
    scores.append(("BLEU", text_bleu(*texts, kind)))
    scores.append(("chrF", text_chrf(*texts, kind)))
    return scores
