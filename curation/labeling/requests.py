"""Requests of a lead: to open a round, practice or an answer task, and to move work in a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from curation.core.errors import refuse_problems
from curation.core.operation import Needs, Seed, flat, option, out_of_bounds
from curation.core.text import pluralize
from curation.labeling.answer_matching import BOUND

PILOT_QUERIES = 10
PASS_MARK = 0.8
_ANNOTATORS = ("Annotators", "Names of the annotators, separated by commas.")

RELEVANT, POOL = SHOWS = ("relevant", "pool")
DOCUMENTS = 10
"""The number of documents shown with a query, where a task names no number."""


@dataclass(frozen=True)
class RoundRequest:
    """A request for a round over candidates; the work and order of each annotator are fixed when it opens.

    Attributes
    ----------
    duplicates, control_items: shares of each annotator's first showings.
    per_day: blind duplicates come at least this number of presentations later where the order is long enough.
    ask_from: the number of items of a query, repeats included, from which annotators say whether the corpus
        answers the query. The parameter does not change the items.
    lists: the documents of a query come on one page. The parameter changes neither work nor order.
    kind: the kind of the round: 'labeling' or 'pilot', or the kind of the step that opens the round.
    """

    name: str = ""
    annotators: Sequence[str] = option((), *_ANNOTATORS, commas=True)
    overlap: int = option(
        2, "Annotators for each candidate", "How many different annotators judge each candidate.", least=1
    )
    duplicates: float = option(
        0.08,
        "Share of blind duplicates",
        "Blind duplicates as a share of each annotator's items. 0 to 0.5.",
        least=0,
        most=0.5,
    )
    control_items: float = option(
        0.0,
        "Share of control items",
        "Control items as a share of each annotator's items. 0 to 0.5. They are decided pairs, shown "
        "unmarked.",
        least=0,
        most=0.5,
    )
    per_day: int | None = option(
        None,
        "Answers a day for each annotator",
        "Answers expected of an annotator per day. Blind duplicates then come on another day.",
        least=1,
        unset="not known",
    )
    ask_from: int = option(
        5,
        "Ask about queries with at least this many documents",
        "Ask “does the corpus answer this?” from so many documents. It comes after the annotator's last "
        "document of such a query. 0 never asks.",
        least=0,
    )
    pilot: bool = option(
        False,
        "Pilot: the same few queries for everyone; it does not count",
        "Make it a pilot: few queries, for everyone, not counted.",
    )
    queries: int = option(
        PILOT_QUERIES,
        "Queries of a pilot",
        "Number of queries of a pilot.",
        least=1,
        needs=Needs("only a pilot has a number of queries", lambda values: values["pilot"]),
    )
    draw: int | None = option(
        None,
        "Draw queries",
        "Draw so many queries at random. People's grades of them correct a judge's. Each stratum gives "
        "queries in proportion to its size, at least one.",
        least=1,
        unset="all queries",
        needs=Needs("a pilot does not count, and corrects no judge", lambda values: not values["pilot"]),
    )
    lists: bool = option(
        False,
        "Show the documents of a query as a list",
        "Show the documents of a query as a list on one page. Otherwise one document comes at a time.",
    )
    seed: Seed = 0
    again: bool = option(
        False,
        "Show candidates again that were in a round or are judged",
        "Also show candidates of earlier rounds and judged ones.",
    )
    kind: str = "labeling"

    def checked(self) -> RoundRequest:
        """Return the request with each annotator once; a pilot is for everyone, without blind duplicates.

        Raises
        ------
        InputError: the numbers do not fit together; all problems together.
        """
        names = tuple(dict.fromkeys(self.annotators))
        problems = [*_problems_of_names(self.name, names), *out_of_bounds(RoundRequest, flat(self))]
        if self.pilot and len(names) < 2:
            problems.append("a pilot compares annotators: name at least two")
        elif names and not self.pilot and self.overlap > len(names):
            problems.append(
                f"an overlap of {self.overlap} does not fit {pluralize(len(names), 'annotator')}: it is how "
                f"many different people judge each pair, between 1 and {len(names)}"
            )
        refuse_problems(problems)
        if not self.pilot:
            return replace(self, annotators=names)
        pilot = replace(self, annotators=names, kind="pilot", overlap=len(names))
        return replace(pilot, duplicates=0.0, control_items=0.0, per_day=None)


@dataclass(frozen=True)
class PracticeRequest:
    """A request for a practice round: known pairs on which annotators practise before real items.

    Attributes
    ----------
    queries: the number of whole queries for each annotator, with at most 5 documents of each.
    file: a file of pairs with their grades and explanations; None takes the reviewer's decisions and reasons.
        Nobody gets a pair that they have judged.
    reason: the reason to include pairs that a release seals; without a reason they are left out, because
        annotators see the expected grade and its explanation.
    """

    name: str = ""
    annotators: Sequence[str] = option((), *_ANNOTATORS, commas=True)
    queries: int = option(
        10, "Queries", "Known queries for each annotator, with at most 5 documents.", least=1
    )
    pass_mark: float = option(
        PASS_MARK, "Pass mark", "Share of correct answers needed to pass.", least=0.01, most=1
    )
    within: int = option(
        0,
        "Grades that an answer may be off",
        "How many grades an answer may be off and still be correct.",
        least=0,
    )
    seed: Seed = 0
    file: Path | None = None
    fields: Mapping[str, str | None] = field(default_factory=dict)
    reason: str | None = None

    def checked(self) -> PracticeRequest:
        """Return the request with each annotator once.

        Raises
        ------
        InputError: the numbers do not fit together; all problems together.
        """
        names = tuple(dict.fromkeys(self.annotators))
        refuse_problems([*_problems_of_names(self.name, names), *out_of_bounds(PracticeRequest, flat(self))])
        return replace(self, annotators=names)


def _problems_of_names(name: str, annotators: Sequence[str]) -> list[str]:
    problems = [] if name.strip() else ["the round needs a name"]
    return problems if annotators else [*problems, "nobody is chosen to judge: the round needs annotators"]


@dataclass(frozen=True)
class MoveRequest:
    """A request to move an annotator's untouched items to others, or shares of the work to new members."""

    round: str = ""
    from_: str | None = option(
        None,
        "From",
        "Annotator whose untouched items go to others. Nobody gets a pair twice.",
        flag="--from",
        unset="nobody",
    )
    to: Sequence[str] = option(
        (),
        "To",
        "Who gets them, separated by commas. Without it everyone else in the round.",
        commas=True,
        needs=Needs("only items of a named annotator can go on", lambda values: values["from_"] is not None),
    )
    join: Sequence[str] = option(
        (),
        "New members",
        "Annotators who join, separated by commas. Untouched items are shared with them evenly.",
        commas=True,
    )
    new: bool = option(
        False,
        "Add the candidates that no round has shown yet",
        "Add the candidates that no round has shown yet.",
    )


@dataclass(frozen=True)
class AnswerTaskRequest:
    """A request for an answer task; without `queries` it is about all queries without reference answers."""

    name: str = option("", "Name of the task", "Name of the task, such as faq.")
    writers: Sequence[str] = option(
        (), "Writers", "Annotators who write, separated by commas.", flag="--annotators", commas=True
    )
    overlap: int = option(
        2, "Writers of each query", "How many different annotators answer each query.", least=1
    )
    queries: Sequence[str] = option(
        (),
        "Queries",
        "A query, by id or text. Repeatable.",
        flag="--query",
        unset="every query without reference answers",
    )
    tag: str | None = option(
        None, "Queries with the tag", "Only queries with this tag, such as question.", unset="any"
    )
    most: int | None = option(
        None, "Draw so many queries", "Draw so many of the queries.", flag="--queries", least=1, unset="all"
    )
    show: str = option(
        RELEVANT,
        "Documents shown",
        "Documents that writers see: relevant or pool. Where none is judged relevant they see the pool's.",
        choices=SHOWS,
        words={
            RELEVANT: "Those that people judged relevant, else the pool's",
            POOL: "The pool's, whatever was judged",
        },
    )
    documents: int = option(
        DOCUMENTS, "Documents of a query, at most", "Documents shown with a query, at most.", least=1
    )
    bound: float = option(
        BOUND,
        "Answers agree from a token F1 of",
        "Token F1 from which two answers agree. Answers with other numbers never agree. 1: only equal words.",
        flag="--min-f1",
        least=0.01,
        most=1,
        by=0.05,
    )
    again: bool = option(
        False,
        "Also queries that have reference answers",
        "Also queries with reference answers or of a closed task.",
    )
    seed: Seed = 0

    def checked(self) -> AnswerTaskRequest:
        """Return the request with each writer and query once.

        Raises
        ------
        InputError: the parts do not fit together; all problems together.
        """
        writers, queries = tuple(dict.fromkeys(self.writers)), tuple(dict.fromkeys(self.queries))
        problems = out_of_bounds(AnswerTaskRequest, vars(self))
        if not self.name.strip():
            problems.append("the answer task needs a name")
        if self.overlap > len(writers):
            problems.append(
                f"an overlap of {self.overlap} does not fit {pluralize(len(writers), 'writer')}: it is how "
                f"many different people answer each query, between 1 and {max(1, len(writers))}"
            )
        if self.show not in SHOWS:
            problems.append(f"{self.show!r} are no documents to show: expected {' or '.join(SHOWS)}")
        refuse_problems(problems)
        return replace(self, writers=writers, queries=queries)
