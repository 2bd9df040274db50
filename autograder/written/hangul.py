"""Find the words in Hangul, where particles and endings are attached to words.

A word has at least two syllables. A particle at its end is removed if two syllables
remain, so 마스크가, 마스크를 and 마스크 are the same word. Verb forms and connectives
that occur in any text count as words, but not as technical terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SYLLABLES = re.compile("[가-힣]+")
SHORTEST = 2  # minimum number of syllables of a word
PARTICLES = """
은 는 이 가 을 를 의 에 로 와 과 도 만 들 란 라 나 랑 께 야 여
으로 에서 에게 까지 부터 보다 처럼 마다 조차 마저 밖에 이나 이란 이라 하고 한테 대로
만큼 같이 이며 이고 로서 로써 이면 이다
으로서 으로써 입니다 이라고 이라는 라고 라는
"""
# The longest matching particle is removed, and then another one before it: 문장에서는
# becomes 문장.
ENDINGS = sorted(PARTICLES.split(), key=len, reverse=True)
AT_MOST = 3
VERBS = re.compile(
    "(?:니다|[한된인는]다|하고|되고|하며|되며|하면|되면|으면|하지|되지|해서|돼서|하게|되게|"
    "지만|는데|므로|아서|어서|려고|도록|어야|아야|세요|에요|예요|하여|되어|하는|되는|"
    "[있없않][는을은고기다]|같은|다른|합니|됩니|입니|는지|한지|된지|렇지|해야|돼야)$"
)
CONNECTIVES = """
그리고 그러나 하지만 그래서 그러면 때문 경우 이것 그것 저것 무엇 어떤 어느 모든
모두 여러 가장 매우 아주 거의 너무 조금 많이 더욱 다시 이미 아직 먼저 나중
함께 서로 각각 하나 둘째 첫째 다음 마지막 처음 사이 정도 대해 대한 따라 통해
위해 관해 대신 그런 이런 저런 어떻게 그렇게 이렇게 항상 언제 여기 거기 저기
우리 여러분 사람 생각 오늘 내일 지금 그냥 정말 진짜 물론 특히 역시 바로 따로
아무것 그대로 가운데 가지 동안 이상 이하 이후 이전 만약 또는 혹은 즉시 결국
다만 오히려 훨씬 얼마나 있을 없을 있게 하는 것을 것이 것은 것도 수도 수는 수가
이제 이어 나오
"""
IN_ANY_TEXT = frozenset(CONNECTIVES.split())


def words_in(run: str) -> Iterator[str]:
    """If a run of syllables contains a word, yield the word without its particles."""
    if run in ENDINGS:  # a particle after a formula or a foreign word
        return
    if len(run) >= SHORTEST:
        yield stem(run)


def stem(word: str) -> str:
    """Return a word without the particles at its end."""
    for _ in range(AT_MOST):
        shorter = next(
            (word.removesuffix(e) for e in ENDINGS if _is_at_end(e, word)), ""
        )
        if not shorter:
            break
        word = shorter
    return word


def _is_at_end(ending: str, word: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= SHORTEST


def is_hangul(word: str) -> bool:
    """Return whether a word consists of Hangul syllables."""
    return bool(SYLLABLES.fullmatch(word))


def is_of_a_subject(word: str) -> bool:
    """Return whether a Hangul word without its particle could be a noun."""
    return word not in IN_ANY_TEXT and not VERBS.search(word)
