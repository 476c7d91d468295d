"""Opening rounds, whatever they show: read, work everything out, and write it at once if nothing has changed.

All that a round will show is worked out by `orders` before anybody grades.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from curation.errors import RefusedError
from curation.labeling.annotators import require_annotators, require_author
from curation.labeling.known import KnownPair, Pool, read_pool, write_known
from curation.labeling.layouts import LaidOut, Layout, lay_out
from curation.labeling.orders import assign
from curation.labeling.practice import practised
from curation.labeling.round_candidates import Chosen
from curation.labeling.spacing import quantiles
from curation.store import Cursor, Store, append, append_rows, get_setting, record_event, utc_now
from curation.store.rows import Annotator, Presentation
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest

TRIES = 5
TOLD_BEFORE = "given to people who practised on them, nobody else being free: they know the expected grade"
Found = TypeVar("Found")


@dataclass(frozen=True)
class RoundOpened:
    """What a new round holds.

    Attributes
    ----------
    per_annotator: name → number of presentations, blind duplicates and known answers included.
    duplicates: name → number of blind duplicates.
    known: name → number of known answers planted blind.
    shortest_distance, median_distance: between the showings of a duplicate, in presentations; None
        without any duplicate.
    distances: quantiles of these distances by name: 'min', 'q1', 'median', 'q3', 'max'.
    left_out: reason → number of candidates or duplicates that the round does not have.
    """

    round: str
    round_id: str
    guide_hash: str
    candidates: int
    presentations: int
    per_annotator: dict[str, int]
    duplicates: dict[str, int]
    known: dict[str, int]
    shortest_distance: int | None
    median_distance: float | None
    distances: dict[str, float]
    left_out: dict[str, int]


def open_over(
    store: Store,
    layout: Layout,
    read: Callable[[Cursor], Found],
    choose: Callable[[Found], Chosen],
    author: str = COMMAND_LINE,
) -> RoundOpened:
    """Open a round over what `choose` makes, outside of any turn, of what `read` finds in one.

    Should candidates, rounds, corpus, sample or guide change in between, it reads and chooses again.

    Raises
    ------
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """
    for _ in range(TRIES):
        with store.reading() as cursor:
            require_author(cursor, author, "lead")
            mark = project_mark(cursor)
            refuse_who_cannot_sign_in(require_annotators(cursor, layout.annotators))
            refuse_taken(cursor, layout.name)
            pool = read_pool(cursor) if layout.known else None
            told = practised(cursor)
            found = read(cursor)
        chosen = choose(found)
        planned = _plan(layout, str(mark[0]), chosen, pool, told)
        with store.transaction() as cursor:
            refuse_taken(cursor, layout.name)
            if project_mark(cursor) == mark:
                _write(cursor, planned, layout.kind, author)
                return planned.opened
    raise RefusedError("Other commands kept changing the project while the round was worked out. Try again.")


class _Planned(NamedTuple):
    """A round that is worked out and not written yet."""

    opened: RoundOpened
    rows: list[Presentation]
    parameters: dict[str, Any]
    sources: Mapping[tuple[str, str], str]
    known: list[KnownPair]


def _plan(
    layout: Layout, guide_hash: str, chosen: Chosen, pool: Pool | None, told: Collection[tuple[str, str, str]]
) -> _Planned:
    if not chosen.candidates:
        raise RefusedError(_nothing(chosen.left_out))
    names, seed = layout.annotators, layout.seed
    parameters = {
        "annotators": names,
        "overlap": layout.overlap,
        "duplicates": layout.duplicates,
        "seed": seed,
        "known": layout.known,
        "per_day": layout.per_day,
        **chosen.parameters,
    }
    round_id = digest("round", layout.name, guide_hash, parameters)
    pairs = {c[:2] for c in chosen.candidates}
    known = {(who, query) for who, query, document in told if (query, document) in pairs}
    work = assign(chosen.candidates, names, layout.overlap, seed, told=known)
    laid = lay_out(round_id, work, layout, pool, pairs)
    left_out = {**chosen.left_out, **laid.left_out}
    rows = {(row.annotator, row.query_id, row.document_id) for row in laid.rows}
    if rows & set(told):
        left_out[TOLD_BEFORE] = len(rows & set(told))
    opened = _opened(layout.name, round_id, guide_hash, len(chosen.candidates), laid, left_out)
    return _Planned(opened, laid.rows, parameters, chosen.sources, laid.known)


def _write(cursor: Cursor, planned: _Planned, kind: str, author: str) -> None:
    opened, parameters = planned.opened, planned.parameters
    cursor.execute(
        "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?)",
        [opened.round_id, opened.round, kind, opened.guide_hash, canonical_json(parameters), utc_now()],
    )
    _write_sources(cursor, opened.round_id, planned.sources)
    append_rows(cursor, "presentations", planned.rows)
    write_known(cursor, opened.round_id, planned.known)
    detail = {"name": opened.round, **parameters, "presentations": opened.presentations}
    record_event(cursor, "open round", detail, author)


def _write_sources(cursor: Cursor, round_id: str, sources: Mapping[tuple[str, str], str]) -> None:
    pairs = sorted(sources)
    columns = {"query_id": [query_id for query_id, _ in pairs], "document_id": [d for _, d in pairs]}
    systems = [sources[pair] for pair in pairs]
    append(cursor, "candidate_sources", {"pool_id": [round_id] * len(pairs), **columns, "system": systems})
    cursor.execute(
        """
        INSERT INTO candidates
        SELECT query_id, document_id FROM candidate_sources s
        WHERE pool_id = ? AND NOT EXISTS (
            FROM candidates c WHERE c.query_id = s.query_id AND c.document_id = s.document_id)
        ORDER BY query_id, document_id
        """,
        [round_id],
    )


def project_mark(cursor: Cursor) -> tuple[object, ...]:
    """Whatever must not change between reading and writing: guide, corpus, sample, candidates, rounds."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM presentations),
               (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM adjudications)
        """
    ).fetchall()
    return (
        get_setting(cursor, "guide"),
        get_setting(cursor, "corpus"),
        get_setting(cursor, "sample"),
        *counts,
    )


def _opened(
    name: str, round_id: str, guide_hash: str, candidates: int, laid: LaidOut, left_out: dict[str, int]
) -> RoundOpened:
    per_annotator: dict[str, int] = defaultdict(int)
    twice: dict[str, int] = defaultdict(int)
    position = {row.presentation_id: row.position for row in laid.rows}
    apart = []
    for row in laid.rows:
        per_annotator[row.annotator] += 1
        twice[row.annotator] += row.duplicate_of is not None
        if row.duplicate_of is not None:
            apart.append(row.position - position[row.duplicate_of])
    return RoundOpened(
        round=name,
        round_id=round_id,
        guide_hash=guide_hash,
        candidates=candidates,
        presentations=len(laid.rows),
        per_annotator=dict(per_annotator),
        duplicates=dict(twice),
        known=laid.per_known,
        shortest_distance=min(apart, default=None),
        median_distance=float(statistics.median(apart)) if apart else None,
        distances=quantiles(apart),
        left_out=left_out,
    )


def _nothing(left_out: Mapping[str, int]) -> str:
    if not left_out:
        return "There are no candidates to judge yet. Build a pool: `goldset pool --systems bm25 --depth 10`."
    why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return (
        f"There is nothing left to judge ({why}). Deepen the pool, or judge all pairs once more: "
        "on the page by showing candidates again, on the command line with --again."
    )


def refuse_who_cannot_sign_in(annotators: Sequence[Annotator]) -> None:
    """Work is for people who can see it.

    Raises
    ------
    RefusedError: somebody is known from imported judgments only; names them all.
    """
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: known from imported judgments only. Give them a password "
            "with `goldset annotator add NAME`, or leave them out of the round."
        )


def refuse_taken(cursor: Cursor, name: str) -> None:
    """Round names are given once.

    Raises
    ------
    RefusedError: there is a round of that name.
    """
    if cursor.execute("SELECT 1 FROM rounds WHERE name = ?", [name]).fetchone():
        raise RefusedError(
            f"A round {name!r} exists already. Choose another name, or look at it with "
            f"`goldset round status {name}`."
        )
