"""The rule by which written answers become references: those that agree do, the others go to a reviewer.

Two answers agree where they are the same once normalised (exact match), or where their token F1 reaches the
task's bound and they hold the same numbers: "5 MB" and "6 MB" in a long sentence have a high F1 and do not
agree. Answers to a query agree if every two of them do. Then each is a reference, once. Everybody may also
say that the corpus does not answer the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from curation.labeling.written_answers.matching import answer_tokens, normalised_answer, token_f1

BOUND = 0.8
"""Token F1 from which two answers agree, where a task names no other."""

WAITING, UNWRITTEN, AGREED, SINGLE, UNANSWERABLE, DISPUTED, DECIDED = HOWS = (
    "waiting",
    "unwritten",
    "agreed",
    "single",
    "unanswerable",
    "disputed",
    "decided",
)


class WrittenAnswer(NamedTuple):
    """What one writer said; `answer` is None for "the corpus does not answer it"."""

    writer: str
    answer: str | None
    documents: tuple[str, ...] = ()


class AnswerOutcome(NamedTuple):
    """What became of a query in a task.

    Attributes
    ----------
    how: 'waiting' for writers; 'unwritten': the task was closed and nobody had answered; 'agreed'; 'single':
        one writer was asked; 'unanswerable'; 'disputed', with `why`; 'decided' by a reviewer.
    answers: the references; none with 'decided' means that the corpus does not answer the query.
    """

    how: str
    answers: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether there are references, or none can be."""
        return self.how in (AGREED, SINGLE, UNANSWERABLE, DECIDED)

    @property
    def is_unanswerable(self) -> bool:
        return self.is_settled and not self.answers


def outcome_of(
    given: Sequence[WrittenAnswer], asked: int, closed: bool = False, bound: float = BOUND
) -> AnswerOutcome:
    """The outcome of a query that no reviewer has decided.

    Parameters
    ----------
    asked: how many writers were asked. closed: nobody is asked any more.
    bound: the token F1 from which two answers agree, above 0 and at most 1.
    """
    missing = asked - len(given)
    if missing and not closed:
        return AnswerOutcome(WAITING)
    if not given:
        return AnswerOutcome(UNWRITTEN)
    texts = [one.answer for one in given if one.answer is not None]
    if missing:
        return AnswerOutcome(DISPUTED, why=f"{len(given)} of {asked} writers answered")
    if not texts:
        return AnswerOutcome(UNANSWERABLE)
    if len(texts) < len(given):
        silent = len(given) - len(texts)
        return AnswerOutcome(DISPUTED, why=f"{silent} of {asked} say that the corpus does not answer it")
    apart = [pair for pair in combinations(texts, 2) if not agree(*pair, bound)]
    if apart:
        return AnswerOutcome(DISPUTED, why=_why(apart, bound))
    return AnswerOutcome(AGREED if asked > 1 else SINGLE, distinct(texts))


def agree(one: str, other: str, bound: float = BOUND) -> bool:
    """Whether two answers say the same: exact match, or token F1 of `bound` or more with the same numbers."""
    if normalised_answer(one) == normalised_answer(other):
        return True
    return token_f1(one, [other]) >= bound and _numbers(one) == _numbers(other)


def distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """Each answer once: of those that are the same once normalised the commonest form, else the shortest."""
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        forms.setdefault(normalised_answer(text), Counter())[text] += 1
    chosen = {min(form, key=_by_times(form)): form.total() for form in forms.values()}
    return tuple(sorted(chosen, key=_by_times(chosen)))


def _by_times(times: Mapping[str, int]) -> Callable[[str], tuple[int, int, str]]:
    """The key by which texts are sorted: the commonest first, then the shortest."""
    return lambda text: (-times[text], len(text), text)


def _numbers(text: str) -> Counter[str]:
    return Counter(token for token in answer_tokens(text) if any(letter.isdigit() for letter in token))


def _why(apart: Sequence[tuple[str, str]], bound: float) -> str:
    lowest = min(token_f1(one, [other]) for one, other in apart)
    if lowest >= bound:
        return f"the answers hold different numbers (token F1 {lowest:.2f})"
    return f"the answers differ: token F1 {lowest:.2f}, below {bound:g}"
