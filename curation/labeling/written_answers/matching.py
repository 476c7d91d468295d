"""Whether an answer is a reference answer: exact match and token F1, the best over all references.

Both compare texts without case, punctuation, the English articles and extra white space, as SQuAD does. Its
rules take ASCII punctuation and words between spaces; here all of Unicode's punctuation is left out, and a
run of a script without spaces (Chinese, Japanese, Thai, …) and of Korean is cut into its signs, as it is
usual for answers in these languages. English texts have the values of SQuAD's own script.

P. Rajpurkar, J. Zhang, K. Lopyrev and P. Liang (2016), SQuAD: 100,000+ questions for machine comprehension of
text, EMNLP, section 6.1. P. Rajpurkar, R. Jia and P. Liang (2018), Know what you don't know, ACL: an empty
answer. P. Lewis et al. (2020), MLQA, ACL, section 4: punctuation and Chinese. S. Lim, M. Kim and J. Lee
(2019), KorQuAD 1.0: Korean.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

from curation.core.words import fold, is_unspaced, signs, whole_words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def normalised_answer(text: str) -> str:
    """The text as it is compared."""
    bare = "".join(letter for letter in fold(text) if not _is_punctuation(letter))
    return " ".join(_ARTICLES.sub(" ", bare).split())


def answer_tokens(text: str) -> list[str]:
    """The tokens of a text, in order: words, and the signs of scripts without spaces."""
    found = []
    for word in normalised_answer(text).split():
        if word.isascii():
            found.append(word)
        else:
            found += [token for run in _runs(word) for token in (signs(run) if is_unspaced(run) else [run])]
    return found


def exact_match(answer: str, references: Iterable[str]) -> float:
    """1 where the answer is one of the references, else 0."""
    return _best(
        answer, references, lambda one, other: float(normalised_answer(one) == normalised_answer(other))
    )


def token_f1(answer: str, references: Iterable[str]) -> float:
    """The harmonic mean of precision and recall of the tokens that answer and reference share, at its "
    "best."""
    return _best(answer, references, _f1)


def _f1(answer: str, reference: str) -> float:
    given, wanted = answer_tokens(answer), answer_tokens(reference)
    if not given or not wanted:  # no answer is right only where none is wanted
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted))


def _best(answer: str, references: Iterable[str], score: Callable[[str, str], float]) -> float:
    return max((score(answer, reference) for reference in references), default=0.0)


def _runs(word: str) -> list[str]:
    """The runs of one script of a word; the word itself where it has none, such as a currency sign."""
    return whole_words(word) or [word]


@cache
def _is_punctuation(letter: str) -> bool:
    return letter in _ASCII_SIGNS or unicodedata.category(letter).startswith("P")
