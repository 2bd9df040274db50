"""Search in Korean: find a word with and without the particle at its end.

The particle is removed from the words of the index and of the query. For example,
마스크가 becomes 마스크.
"""

from __future__ import annotations

import json
import re

from sphinx.search import SearchLanguage

# Particles of nouns, and endings of the verb "to be".
PARTICLES = """
" 이라는 에서는 에서의 에서도 으로는 으로의 으로써 으로서 이라고 입니다 습니다
합니다 됩니다 까지의 부터의 하고 에는 에도 에게 에서 으로 부터 까지 보다 처럼
마다 마저 조차 밖에 이나 이며 이고 이란 이다 라는 라고 로는 로써 로서 와의 과의
들이 들을 들의 들은 들에 은 는 이 가 을 를 의 에 로 와 과 도 만 란
"""
# The longest matching ending is removed.
ENDINGS = sorted(PARTICLES.split(), key=lambda ending: (-len(ending), ending))
# Before these particles, a single syllable can be a word: 키를, 값은.
AFTER_ONE = ("를", "을", "은", "는")
SCRIPT = """
var Stemmer = function () {
  const endings = @endings@;
  const afterOne = @after_one@;
  this.stemWord = function (word) {
    for (const ending of endings) {
      const left = word.length - ending.length;
      if (word.endsWith(ending) && left >= (afterOne.includes(ending) ? 1 : 2))
        return word.slice(0, left);
    }
    return word;
  };
};
"""


def stem(word: str) -> str:
    """Return a word without its particle, unless too little would remain."""
    for ending in ENDINGS:
        left = len(word) - len(ending)
        if word.endswith(ending) and left >= (1 if ending in AFTER_ONE else 2):
            return word[:left]
    return word


class SearchKorean(SearchLanguage):
    """Korean search for Sphinx, which has no search for this language."""

    lang = "ko"
    language_name = "Korean"
    js_stemmer_code = re.sub(
        "@(endings|after_one)@",
        lambda name: json.dumps(
            {"endings": ENDINGS, "after_one": AFTER_ONE}[name[1]], ensure_ascii=False
        ),
        SCRIPT,
    )

    def stem(self, word: str) -> str:
        """Return the word in lower case without its particle."""
        return stem(word.lower())
