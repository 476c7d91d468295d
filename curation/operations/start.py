"""The start of a project: one operation draws queries, pools documents with BM25 and opens a first round.

The operation does what a lead would do on the pages Queries and Rounds, with few choices. All other choices
keep their defaults and can be changed later on these pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from curation.core.errors import RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.request import option
from curation.core.text import join_names, pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.operations.workflow.preparing import Preparation, read_preparation
from curation.people.annotators import list_eligible_annotators, require_annotators
from curation.pooling.pool import build_pool
from curation.pooling.pool_report import PoolReport
from curation.pooling.request import PoolRequest
from curation.pooling.stored_pool import read_last_pool
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.frame import read_frame
from curation.queries.sampling.requests import DrawRequest
from curation.store import COMMAND_LINE, Cursor, Store
from curation.store.documents import current_snapshot

SAMPLED, POOL_DEPTH = 50, 10
"""Default numbers of queries, and of documents for each query."""


@dataclass(frozen=True)
class StartRequest:
    """A request for a first round over a project's documents and queries.

    Attributes
    ----------
    annotators: names of the people who grade; by default the person who starts, or everybody who may grade.
    """

    queries: int = option(SAMPLED, "Queries", "Number of queries to draw from the log.", minimum=1)
    depth: int = option(
        POOL_DEPTH, "Documents for each query", "Number of documents from the top of BM25's list.", minimum=1
    )
    annotators: Sequence[str] = option(
        (),
        "Annotators",
        "Names of the annotators, separated by commas.",
        is_comma_separated=True,
        unset="you, or everyone who may grade",
    )
    round: str = option("first", "Round name", "Round name.")


@dataclass(frozen=True)
class StartReport:
    """The report of a start: the pool, and the round, or None if nobody can grade yet."""

    pool: PoolReport
    round: OpenedRound | None

    @property
    def sentences(self) -> list[str]:
        """Say how many queries and documents there are, and name the round or say how to open it."""
        queries = pluralize(self.pool.queries, "query has", "queries have")
        sentences = [f"{queries} {pluralize(self.pool.candidates, 'document')} to grade.", *self.pool.gaps]
        if self.round is None:
            return [*sentences, "No one can grade yet. Sign in to the app, and open the first round on Home."]
        people, grades = join_names(sorted(self.round.per_annotator)), self.round.presentations
        opened = f"The round {self.round.round} is open for {people}: {pluralize(grades, 'grade')} to give."
        return [opened, *sentences]


def start(
    store: Store, request: StartRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> StartReport:
    """Draw queries if the project has none, pool documents with BM25, and open a round.

    A start that was interrupted goes on with the queries and the pool that it made.

    Raises
    ------
    RefusedError: the project lacks documents, queries or annotators, a round was opened before, or BM25 found
        nothing.
    InputError, NotFoundError: see the sample, the pool and the round.
    """
    with store.reading() as cursor:
        check_start(cursor, request)
        annotators = tuple(request.annotators) or _choose_annotators(cursor, author)
        facts = read_preparation(cursor)
    if not facts.queries:
        available = len(read_frame(store, DrawRequest(), progress=progress).traffic)
        draw_sample(store, DrawRequest(size=min(request.queries, available)), progress, author)
    pool = read_last_pool(store) if _has_pool(facts) else None
    if pool is None:
        settings = PoolRequest(("bm25",), depth=request.depth, random_negatives=0)
        pool = build_pool(store, settings, progress, author)
    if not pool.candidates:
        raise RefusedError(" ".join(["BM25 found no document to grade.", *pool.gaps]))
    report = StartReport(pool, None)
    if not annotators:
        return report
    layout = RoundRequest(request.round, annotators, overlap=len(annotators))
    return replace(report, round=open_round(store, layout, author))


def check_start(cursor: Cursor, request: StartRequest | None) -> None:
    """Reject a start in a project that lacks documents or queries, or that has a round.

    Raises
    ------
    RefusedError: a part is missing; the message says how to bring it in.
    NotFoundError: the project does not know an annotator.
    """
    current_snapshot(cursor)
    facts = read_preparation(cursor)
    if not (facts.logs or facts.queries):
        raise RefusedError(
            "The project has no queries. Import a log or a list of queries, or write queries.",
            command="`goldgrade import traffic FILE` imports a log.",
        )
    if not is_new(cursor):
        raise RefusedError(
            "The project already has a round, so it cannot be started again.",
            command="`goldgrade round open NAME` opens another round.",
        )
    if request is not None:
        require_annotators(cursor, request.annotators)


def is_new(cursor: Cursor) -> bool:
    """Return whether a project has no round yet, so that a start can open the first one."""
    return cursor.execute("SELECT 1 FROM rounds LIMIT 1").fetchone() is None


def list_choices(facts: Preparation) -> tuple[str, ...]:
    """Return the names of the request's fields that make a difference in a project with these facts."""
    return (*([] if facts.queries else ["queries"]), *([] if _has_pool(facts) else ["depth"]), "round")


def _has_pool(facts: Preparation) -> bool:
    """Return whether the project has a pool of all its queries and of its current documents."""
    pool = facts.pool if facts.pairs and not facts.is_pool_stale else None
    return pool is not None and facts.queries <= pool.queries


def _choose_annotators(cursor: Cursor, author: str) -> tuple[str, ...]:
    """Return the person who starts, if that person may grade; otherwise everyone who may grade."""
    names = tuple(person.name for person in list_eligible_annotators(cursor))
    return (author,) if author in names else names


OPERATIONS = {
    "start": Operation(
        StartRequest,
        start,
        in_progress="preparing the first round",
        on_interrupt="The queries and documents drawn so far are kept. Start again.",
        check=check_start,
        first_step="reading the traffic",
        stage="round",
    )
}
