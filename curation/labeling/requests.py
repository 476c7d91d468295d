"""The requests with which a lead gives work to annotators and writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from curation.core.errors import refuse_problems
from curation.core.request import Needs, Seed, describe_out_of_bounds, flatten_request, option
from curation.core.text import pluralize
from curation.labeling.answer_matching import MIN_TOKEN_F1

PILOT_QUERIES = 10
PASS_MARK = 0.8
_ANNOTATORS = ("Annotators", "Names of the annotators, separated by commas.")
RELEVANT, POOL = SHOW_CHOICES = ("relevant", "pool")
DOCUMENTS_SHOWN = 10
"""Default number of documents shown with a query in an answer task."""


@dataclass(frozen=True)
class RoundRequest:
    """A request to open a round over candidates, which fixes each annotator's items in order.

    Attributes
    ----------
    duplicates, control_items: shares of each annotator's first showings.
    per_day: blind duplicates come at least this number of presentations later, if the annotator has enough
        items.
    ask_from: least number of items of a query, repeats included, at which annotators are asked whether the
        corpus answers the query. This parameter does not change the items.
    lists: show the documents of a query on one page. This parameter changes neither the items nor their
        order.
    kind: the kind of the round: 'labeling', 'pilot', or the kind that the function which opens the round
        needs.
    """

    name: str = ""
    annotators: Sequence[str] = option((), *_ANNOTATORS, is_comma_separated=True)
    overlap: int = option(
        2, "Annotators for each document", "How many annotators judge each document of a query.", minimum=1
    )
    duplicates: float = option(
        0.08,
        "Share of blind duplicates",
        "Share of blind duplicates in an annotator's items, 0 to 0.5.",
        minimum=0,
        maximum=0.5,
    )
    control_items: float = option(
        0.0,
        "Share of control items",
        "Share of control items in an annotator's items, 0 to 0.5. Control items are pairs with a "
        "decision, shown unmarked.",
        minimum=0,
        maximum=0.5,
    )
    per_day: int | None = option(
        None,
        "Answers per day for each annotator",
        "Answers expected of an annotator per day. Blind duplicates then come on another day.",
        minimum=1,
        unset="not known",
    )
    ask_from: int = option(
        5,
        "Ask whether the corpus answers a query, from this many documents",
        "Ask “does the corpus answer this?” from this many documents. The question follows an annotator's "
        "last document of a query. 0 never asks.",
        minimum=0,
    )
    pilot: bool = option(
        False,
        "Pilot: the same few queries for everyone; grades do not count",
        "Make the round a pilot. Everyone judges the same few queries, and the grades do not count.",
    )
    queries: int = option(
        PILOT_QUERIES,
        "Queries of a pilot",
        "Number of queries in a pilot.",
        minimum=1,
        needs=Needs("a number of queries is only possible for a pilot", lambda values: values["pilot"]),
    )
    draw: int | None = option(
        None,
        "Draw queries",
        "Draw this many queries at random. Human grades of these queries correct a judge's grades. "
        "Each stratum gives at least one query; larger strata give more.",
        minimum=1,
        unset="all queries",
        needs=Needs(
            "grades of a pilot do not count, so they cannot correct a judge",
            lambda values: not values["pilot"],
        ),
    )
    lists: bool = option(
        False,
        "Show a query's documents as a list",
        "Show a query's documents as a list on one page. By default, one document is shown at a time.",
    )
    seed: Seed = 0
    again: bool = option(
        False,
        "Show candidates again that were in a round or are judged",
        "Also show candidates that were already shown or judged.",
    )
    kind: str = "labeling"

    def checked(self) -> RoundRequest:
        """Return the request without repeated annotators; in a pilot, everyone judges all pairs.

        Raises
        ------
        InputError: the numbers do not fit together; the error lists all problems.
        """
        names = tuple(dict.fromkeys(self.annotators))
        problems = _find_name_problems(self.name, names)
        problems += describe_out_of_bounds(RoundRequest, flatten_request(self))
        if self.pilot and len(names) < 2:
            problems.append("a pilot compares annotators: name at least two annotators")
        elif names and not self.pilot and self.overlap > len(names):
            problems.append(
                f"an overlap of {self.overlap} does not fit {pluralize(len(names), 'annotator')}: it "
                f"is the number of annotators who judge each pair, between 1 and {len(names)}"
            )
        refuse_problems(problems)
        if not self.pilot:
            return replace(self, annotators=names)
        pilot = replace(self, annotators=names, kind="pilot", overlap=len(names))
        return replace(pilot, duplicates=0.0, control_items=0.0, per_day=None)


@dataclass(frozen=True)
class PracticeRequest:
    """A request for a practice round, in which annotators practise on pairs with known grades.

    Attributes
    ----------
    queries: the number of queries for each annotator, with at most 5 documents of each query.
    file: a file of pairs with their grades and explanations; None takes the reviewer's decisions and reasons.
        No annotator gets a pair that the annotator has judged.
    reason: the reason to include pairs that a release seals; without a reason sealed pairs are left out,
        because practice shows the expected grade and its explanation.
    """

    name: str = ""
    annotators: Sequence[str] = option((), *_ANNOTATORS, is_comma_separated=True)
    queries: int = option(
        10, "Queries", "Known queries per annotator, each with up to 5 documents.", minimum=1
    )
    pass_mark: float = option(
        PASS_MARK,
        "Pass mark",
        "Share of correct answers that an annotator needs to pass.",
        minimum=0.01,
        maximum=1,
    )
    within: int = option(
        0,
        "Grades by which a correct answer may differ",
        "Number of grades by which a correct answer may differ.",
        minimum=0,
    )
    seed: Seed = 0
    file: Path | None = None
    fields: Mapping[str, str | None] = field(default_factory=dict)
    reason: str | None = None

    def checked(self) -> PracticeRequest:
        """Return the request without repeated annotators.

        Raises
        ------
        InputError: the numbers do not fit together; the error lists all problems.
        """
        names = tuple(dict.fromkeys(self.annotators))
        problems = _find_name_problems(self.name, names)
        problems += describe_out_of_bounds(PracticeRequest, flatten_request(self))
        refuse_problems(problems)
        return replace(self, annotators=names)


@dataclass(frozen=True)
class MoveRequest:
    """A request to move an annotator's untouched items, or to give shares of items to new members."""

    round: str = ""
    from_: str | None = option(
        None,
        "From",
        "Annotator whose unstarted items move to others. No annotator gets a pair twice.",
        flag="--from",
        unset="nobody",
    )
    to: Sequence[str] = option(
        (),
        "To",
        "Annotators who get the items, separated by commas. By default, all other members of the round.",
        is_comma_separated=True,
        needs=Needs("name the annotator whose items move", lambda values: values["from_"] is not None),
    )
    join: Sequence[str] = option(
        (),
        "New members",
        "Annotators who join, separated by commas. New annotators get an even share of untouched items.",
        is_comma_separated=True,
    )
    new: bool = option(
        False,
        "Add the candidates that no round has shown yet",
        "Add the candidates that no round has shown yet.",
    )


@dataclass(frozen=True)
class AnswerTaskRequest:
    """A request for an answer task; by default it covers all queries without reference answers."""

    name: str = option("", "Name of the task", "Name of the task, such as faq.")
    writers: Sequence[str] = option(
        (),
        "Writers",
        "Annotators who write, separated by commas.",
        flag="--annotators",
        is_comma_separated=True,
    )
    overlap: int = option(2, "Writers of each query", "How many annotators answer each query.", minimum=1)
    queries: Sequence[str] = option(
        (),
        "Queries",
        "Id or text of a query. Repeatable.",
        flag="--query",
        unset="every query without reference answers",
    )
    tag: str | None = option(None, "Queries with the tag", "Take only queries with this tag.", unset="any")
    most: int | None = option(
        None, "Queries to draw", "Number of queries to draw.", flag="--queries", minimum=1, unset="all"
    )
    show: str = option(
        RELEVANT,
        "Documents shown",
        "Documents that writers see: relevant or pool. Queries without a relevant document show the pool.",
        choices=SHOW_CHOICES,
        words={
            RELEVANT: "Documents judged relevant, or the pool if there are none",
            POOL: "All documents of the pool, judged or not",
        },
    )
    documents: int = option(
        DOCUMENTS_SHOWN,
        "Maximum number of documents of a query",
        "Maximum number of documents shown with a query.",
        minimum=1,
    )
    bound: float = option(
        MIN_TOKEN_F1,
        "Minimum token F1 of answers that agree",
        "Minimum token F1 of two answers that agree. Answers with different numbers never agree. 1 requires "
        "equal words.",
        flag="--min-f1",
        minimum=0.01,
        maximum=1,
        step=0.05,
    )
    again: bool = option(
        False,
        "Also queries that have reference answers",
        "Also take queries of closed tasks or with reference answers.",
    )
    seed: Seed = 0

    def checked(self) -> AnswerTaskRequest:
        """Return the request without repeated writers or queries.

        Raises
        ------
        InputError: the parts do not fit together; the error lists all problems.
        """
        writers, queries = tuple(dict.fromkeys(self.writers)), tuple(dict.fromkeys(self.queries))
        problems = describe_out_of_bounds(AnswerTaskRequest, vars(self))
        if not self.name.strip():
            problems.append("the answer task needs a name")
        if self.overlap > len(writers):
            problems.append(
                f"an overlap of {self.overlap} does not fit {pluralize(len(writers), 'writer')}: it is "
                f"the number of writers who answer each query, between 1 and {max(1, len(writers))}"
            )
        if self.show not in SHOW_CHOICES:
            problems.append(f"unknown documents to show {self.show!r}: expected {' or '.join(SHOW_CHOICES)}")
        refuse_problems(problems)
        return replace(self, writers=writers, queries=queries)


def _find_name_problems(name: str, annotators: Sequence[str]) -> list[str]:
    problems = [] if name.strip() else ["the round needs a name"]
    return problems if annotators else [*problems, "the round needs annotators: choose who judges"]
