"""The course's own corpus: German sentences from a grammar, with gold alignments.

Each sentence comes from the templates in `language`. Its translation and the links
between the words are made from the same clause. Each German sentence has exactly one
translation, and the corpus is the same on every machine.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from .language.adjectives import ADJECTIVE_BY_NAME
from .language.clauses import Clause
from .language.dice import Dice
from .language.nouns import NOUN_BY_NAME
from .language.phrases import THE, NounPhrase
from .language.sentence import Sentence
from .language.sentences import sample_sentence
from .language.statements import make_statement
from .language.verbs import VERBS_BY_FRAME
from .pairs import Corpus, SentencePair

N_TRAIN, N_VALID, N_TEST, N_NOVEL = 20_000, 1_000, 1_000, 300
SHORTEST, LONGEST = 3, 14  # tokens on each side
RAREST = 10  # every word of the other splits occurs this often in training
AMBIGUOUS_WORDS = {
    "bank": ("bench", "bank"),
    "schloss": ("castle", "lock"),
    "trägt": ("wears", "carries"),
    "sie": ("she", "they"),
    "schwer": ("heavy", "difficult"),
    "leicht": ("light", "easy"),
    "groß": ("big", "tall"),
    "weiß": ("know", "knows", "white"),
    "morgen": ("morning", "tomorrow"),
    "junge": ("boy", "young"),
    "in": ("in", "into"),
}
"""German words whose translation the rest of the sentence decides."""

_HELD_OUT_EVERY = 40  # one word combination in 40 occurs only in the test set


@cache
def is_held_out(word: str, noun: str) -> bool:
    """Return whether a combination of words is kept for the test set only.

    The result depends only on the letters, so it is the same for every seed.

    Args:
        word: an adjective, or a verb with its particle, in English: "old", "pick up".
        noun: the noun that it goes with, in English: "train_station", "suitcase".
    """
    number = sum(ord(letter) * 31**i for i, letter in enumerate(f"{word} {noun}"))
    return number % 100_003 % _HELD_OUT_EVERY == 0


def running_example() -> SentencePair:
    """Return the book's example, "die frau ruft den alten mann an ."."""
    calls = next(verb for verb in VERBS_BY_FRAME["acc"] if verb.english == "call")
    woman, man = NOUN_BY_NAME["woman"], NOUN_BY_NAME["man"]
    old_man = NounPhrase(man, THE, adjective=ADJECTIVE_BY_NAME["old"])
    clause = Clause(NounPhrase(woman, THE), calls, object=old_man)
    return align(make_statement(clause))


@cache
def make_grammar_corpus(seed: int = 0) -> Corpus:
    """Draw 20,000 training pairs, 1,000 validation pairs and 1,000 test pairs.

    No German or English sentence occurs twice. The first test pair is the book's
    example. The next 300 contain a combination of adjective and noun, or of verb and
    object, that occurs in no other split (`Corpus.novel`). Every word of the validation
    and test pairs occurs at least ten times in training.

    Args:
        seed: equal seeds give equal corpora; the book uses 0.

    Returns:
        The three splits, with an alignment for every pair.
    """
    drawn = _draw_pairs(Dice(seed))
    train: list[SentencePair] = []
    novel: list[SentencePair] = []
    while len(train) < N_TRAIN:
        pair, is_novel = next(drawn)
        (novel if is_novel else train).append(pair)
    known = _frequent_words(train)
    novel = [pair for pair in novel if known.issuperset(pair.src + pair.tgt)]
    rest: list[SentencePair] = []
    while len(novel) < N_NOVEL or len(rest) < N_VALID + N_TEST - N_NOVEL - 1:
        pair, is_novel = next(drawn)
        if known.issuperset(pair.src + pair.tgt):
            (novel if is_novel else rest).append(pair)
    others = rest[N_VALID : N_VALID + N_TEST - N_NOVEL - 1]
    test = (RUNNING_EXAMPLE, *novel[:N_NOVEL], *others)
    in_test = (False, *(True,) * N_NOVEL, *(False,) * len(others))
    return Corpus(tuple(train), tuple(rest[:N_VALID]), test, in_test)


def align(sentence: Sentence) -> SentencePair:
    """Return a sentence as a pair, with links between words of equal meaning."""
    links = tuple(
        [
            (i, j)
            for i, (_, german) in enumerate(sentence.german)
            for j, (_, english) in enumerate(sentence.english)
            if german & english
        ]
    )
    src = tuple([word for word, _ in sentence.german])
    return SentencePair(src, tuple([word for word, _ in sentence.english]), links)


def _draw_pairs(dice: Dice) -> Iterator[tuple[SentencePair, bool]]:
    """Yield pairs with new sentences on both sides, and whether each is held out."""
    seen = {RUNNING_EXAMPLE.src, RUNNING_EXAMPLE.tgt}
    while True:
        sentence = sample_sentence(dice)
        if sentence is None or not _is_good_length(sentence):
            continue
        pair = align(sentence)
        if pair.src in seen or pair.tgt in seen:
            continue
        seen.update((pair.src, pair.tgt))
        combinations = [c for clause in sentence.clauses for c in clause.combinations()]
        yield pair, any([is_held_out(*words) for words in combinations])


def _is_good_length(sentence: Sentence) -> bool:
    lengths = len(sentence.german), len(sentence.english)
    return min(lengths) >= SHORTEST and max(lengths) <= LONGEST


def _frequent_words(pairs: list[SentencePair]) -> frozenset[str]:
    german = Counter(word for pair in pairs for word in pair.src)
    english = Counter(word for pair in pairs for word in pair.tgt)
    return frozenset(
        word for word, count in (german + english).items() if count >= RAREST
    )


RUNNING_EXAMPLE = running_example()
