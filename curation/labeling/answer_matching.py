"""The rule that decides whether two written answers agree: an exact match, or a high token F1 and the same
numbers.

Both measures compare texts without case, punctuation, the English articles and extra white space, as SQuAD
does. SQuAD leaves out ASCII punctuation and splits words at spaces. This module leaves out all Unicode
punctuation, and splits Korean and scripts without spaces (Chinese, Japanese, Thai, …) into characters, as is
usual for answers in these languages. English texts get the same values as from SQuAD's script.

Two answers agree if they match exactly, or if their token F1 reaches the task's bound and both hold the same
numbers: "5 MB" and "6 MB" in a long sentence have a high F1 and do not agree. The answers to a query agree if
every two answers agree; each distinct answer is then a reference answer. If all writers say that the corpus
does not answer the query, the query is unanswerable. A reviewer decides a query whose answers do not agree.

P. Rajpurkar, J. Zhang, K. Lopyrev and P. Liang (2016), SQuAD: 100,000+ questions for machine comprehension of
text, EMNLP, section 6.1. P. Rajpurkar, R. Jia and P. Liang (2018), Know what you don't know, ACL: an empty
answer. P. Lewis et al. (2020), MLQA, ACL, section 4: punctuation and Chinese. S. Lim, M. Kim and J. Lee
(2019), KorQuAD 1.0: Korean.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from curation.core.words import fold, is_unspaced, split_signs, split_whole_words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
MIN_TOKEN_F1 = 0.8
"""Default of the smallest token F1 at which two answers agree."""
OUTCOMES = ("waiting", "unwritten", "agreed", "single", "unanswerable", "disputed", "decided")
WAITING, UNWRITTEN, AGREED, SINGLE, UNANSWERABLE, DISPUTED, DECIDED = OUTCOMES


class AnswerOutcome(NamedTuple):
    """The outcome for one query of an answer task: reference answers, unanswerable, disputed or open.

    Attributes
    ----------
    how: 'waiting' (for writers), 'unwritten' (the task was closed without an answer), 'agreed', 'single'
        (only one writer was asked), 'unanswerable', 'disputed' (`why` has the reason) or 'decided' (by a
        reviewer).
    answers: the reference answers; empty with 'decided' where the corpus does not answer the query.
    """

    how: str
    answers: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_settled(self) -> bool:
        """Return whether the query has reference answers, or is unanswerable from the corpus."""
        return self.how in (AGREED, SINGLE, UNANSWERABLE, DECIDED)

    @property
    def is_unanswerable(self) -> bool:
        return self.is_settled and not self.answers


def normalise_answer(text: str) -> str:
    """Normalise an answer's text, so that answers can be compared."""
    bare = "".join(letter for letter in fold(text) if not _is_punctuation(letter))
    return " ".join(_ARTICLES.sub(" ", bare).split())


def tokenize_answer(text: str) -> list[str]:
    """Split a text into tokens, in order: words, or single characters in scripts without spaces."""
    tokens = []
    for word in normalise_answer(text).split():
        if word.isascii():
            tokens.append(word)
        else:
            # A word without letters, such as a currency sign, is one token.
            runs = split_whole_words(word) or [word]
            tokens += [token for run in runs for token in (split_signs(run) if is_unspaced(run) else [run])]
    return tokens


def exact_match(answer: str, references: Iterable[str]) -> float:
    """Return 1 if the answer matches a reference answer exactly, else 0."""
    return _score_best(answer, references, lambda a, b: float(normalise_answer(a) == normalise_answer(b)))


def token_f1(answer: str, references: Iterable[str]) -> float:
    """Return the best token F1 against any reference: the harmonic mean of token precision and recall."""
    return _score_best(answer, references, _f1)


def decide_outcome(
    answers: Sequence[str | None], writers: int, closed: bool = False, bound: float = MIN_TOKEN_F1
) -> AnswerOutcome:
    """Compute the outcome for a query from its writers' answers, without any reviewer's decision.

    Parameters
    ----------
    answers: the answer of each writer; None for "the corpus does not answer the query".
    writers: the number of writers who were asked.
    closed: whether the task is closed to further answers.
    bound: the least token F1 of two answers that agree, above 0 and at most 1.
    """
    missing = writers - len(answers)
    if missing and not closed:
        return AnswerOutcome(WAITING)
    if not answers:
        return AnswerOutcome(UNWRITTEN)
    texts = [answer for answer in answers if answer is not None]
    if missing:
        return AnswerOutcome(DISPUTED, why=f"{len(answers)} of {writers} writers answered")
    if not texts:
        return AnswerOutcome(UNANSWERABLE)
    if len(texts) < len(answers):
        silent = len(answers) - len(texts)
        return AnswerOutcome(DISPUTED, why=f"{silent} of {writers} writers call the query unanswerable")
    disagreeing = [pair for pair in combinations(texts, 2) if not answers_agree(*pair, bound)]
    if disagreeing:
        return AnswerOutcome(DISPUTED, why=_describe_disagreement(disagreeing, bound))
    return AnswerOutcome(AGREED if writers > 1 else SINGLE, find_distinct_answers(texts))


def answers_agree(first: str, second: str, bound: float = MIN_TOKEN_F1) -> bool:
    """Return whether two answers match exactly, or contain equal numbers and have a token F1 of at least
    `bound`."""
    if normalise_answer(first) == normalise_answer(second):
        return True
    return token_f1(first, [second]) >= bound and _count_numbers(first) == _count_numbers(second)


def find_distinct_answers(texts: Sequence[str]) -> tuple[str, ...]:
    """Keep one spelling of each answer: the most frequent of the spellings with equal normalised text, or the
    shortest if several are most frequent."""
    spellings: dict[str, Counter[str]] = {}
    for text in texts:
        spellings.setdefault(normalise_answer(text), Counter())[text] += 1
    counts = {
        min(spellings_of_answer, key=_frequency_rank(spellings_of_answer)): spellings_of_answer.total()
        for spellings_of_answer in spellings.values()
    }
    return tuple(sorted(counts, key=_frequency_rank(counts)))


def _f1(answer: str, reference: str) -> float:
    answer_tokens, reference_tokens = tokenize_answer(answer), tokenize_answer(reference)
    if not answer_tokens or not reference_tokens:  # an empty answer is right only if no answer is expected
        return float(answer_tokens == reference_tokens)
    shared = sum((Counter(answer_tokens) & Counter(reference_tokens)).values())
    return 2 * shared / (len(answer_tokens) + len(reference_tokens))


def _score_best(answer: str, references: Iterable[str], score: Callable[[str, str], float]) -> float:
    return max((score(answer, reference) for reference in references), default=0.0)


@cache
def _is_punctuation(letter: str) -> bool:
    return letter in _ASCII_SIGNS or unicodedata.category(letter).startswith("P")


def _frequency_rank(counts: Mapping[str, int]) -> Callable[[str], tuple[int, int, str]]:
    """Return a sort key for texts that puts the most frequent text first, and the shortest first among
    equally frequent texts."""
    return lambda text: (-counts[text], len(text), text)


def _count_numbers(text: str) -> Counter[str]:
    return Counter(token for token in tokenize_answer(text) if any(letter.isdigit() for letter in token))


def _describe_disagreement(pairs: Sequence[tuple[str, str]], bound: float) -> str:
    lowest = min(token_f1(first, [other]) for first, other in pairs)
    if lowest >= bound:
        return f"the answers contain different numbers (token F1 {lowest:.2f})"
    return f"the answers differ: token F1 {lowest:.2f}, below {bound:g}"
