"""Creating rounds, whatever they show: everything is assigned before anybody grades (see `assignment`)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from curation.core.errors import RefusedError, refuse_problems
from curation.core.text import amount, digest, seeded
from curation.ingest.importers.left.reading import bring_texts
from curation.labeling.rounds.assignment import assign
from curation.labeling.rounds.candidates import CandidateRow, Chosen, choose_candidates, read_candidates
from curation.labeling.rounds.control_items import (
    ControlItemPool,
    practised,
    read_control_items,
    write_control_items,
)
from curation.labeling.rounds.duplicate_spacing import quantiles
from curation.labeling.rounds.layout import ASK_FROM, RoundAssignment, RoundLayout, lay_out
from curation.labeling.rounds.rounds import refuse_taken, write_round
from curation.people.annotators import JUDGING, able_to_judge, require_annotators, require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, get_setting, record_event
from curation.store.documents import current_snapshot, snapshot_versions
from curation.store.retry import write_if_unchanged
from curation.store.rows import Annotator

PILOT_QUERIES = 10
BUSY = "Other commands kept changing the project while the round was planned. Try again."
NO_CANDIDATES = "There are no candidates to judge yet. Build a pool."
PRACTISED_BEFORE = (
    "given to people who practised on them, nobody else being free: they know the expected grade"
)

Found = TypeVar("Found")


def open_round(
    store: Store,
    name: str,
    annotators: Sequence[str],
    *,
    overlap: int = 2,
    duplicates: float = 0.08,
    seed: int = 0,
    again: bool = False,
    kind: str = "labeling",
    control_items: float = 0.0,
    per_day: int | None = None,
    queries: int = PILOT_QUERIES,
    ask_from: int = ASK_FROM,
    lists: bool = False,
    author: str = COMMAND_LINE,
    pairs: Mapping[tuple[str, str], str] | None = None,
) -> RoundOpened:
    """Open a round over the candidates of the queries in play that no round has shown yet.

    A pilot shows the same few queries to everyone, without blind duplicates or control items. It does not
    count: its candidates can be judged in a labeling round afterwards.

    Parameters
    ----------
    overlap: how many annotators judge each candidate.
    duplicates: blind duplicates as a share of each annotator's first showings, 0 to 0.5.
    again: include the candidates that a round has shown or that are judged.
    kind: 'labeling' or 'pilot'; a pilot's overlap is everyone.
    control_items: share of control items planted blind among each annotator's first showings, 0 to 0.5.
    per_day: answers expected of an annotator in a day; blind duplicates then come at least so many
        presentations later, where the order is long enough.
    queries: how many queries a pilot has.
    ask_from: annotators say whether the corpus answers a query of which they have so many items or more, a
        repeat counted like any other; 0 never asks.
    lists: annotators see the documents of a query as a list on one page.
    author: who opens it, for the audit trail: a lead or the command line.
    pairs: what to choose from, by query and document; None is all candidates. With the system that returned
        a pair, it becomes a candidate if it is none yet; '' for none.

    Raises
    ------
    InputError: the numbers do not fit together.
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """
    if kind == "pilot":
        layout = _pilot_layout(name, annotators, seed, queries, ask_from)._replace(lists=lists)
    else:
        share = (overlap, duplicates, seed, control_items, per_day, ask_from, lists)
        layout = RoundLayout(name, kind, annotators, *share).checked()

    def read(cursor: Cursor) -> tuple[list[CandidateRow], set[str]]:
        rows, active = read_candidates(cursor, pilots=kind == "pilot")
        if pairs is None:
            return rows, active
        rows = [row for row in rows if (row.query_id, row.document_id) in pairs]
        new = sorted(
            {pair for pair in pairs if pairs[pair]} - {(row.query_id, row.document_id) for row in rows}
        )
        versions = snapshot_versions(cursor, current_snapshot(cursor), [name for _, name in new])
        return [*rows, *(CandidateRow(*pair, versions.get(pair[1]), False) for pair in new)], active

    def choose(found: tuple[list[CandidateRow], set[str]]) -> Chosen:
        chosen = choose_candidates(*found, again)
        sources = {candidate[:2]: pairs[candidate[:2]] for candidate in chosen.candidates} if pairs else {}
        chosen = replace(chosen, sources={pair: system for pair, system in sources.items() if system})
        return _some_queries(chosen, queries, seed) if kind == "pilot" else chosen

    return open_over(store, layout, read, choose, author)


def why_no_round(cursor: Cursor) -> str | None:
    """Why no round can be opened over a pool, whatever is asked; None where one may be."""
    if not cursor.execute("SELECT 1 FROM candidates LIMIT 1").fetchall():
        return NO_CANDIDATES
    return None if able_to_judge(cursor) else "Nobody can judge yet. Add people under People."


def _pilot_layout(
    name: str, annotators: Sequence[str], seed: int, queries: int, ask_from: int
) -> RoundLayout:
    everyone = len(set(annotators))
    layout = RoundLayout(name, "pilot", annotators, everyone, 0.0, seed, ask_from=ask_from).checked()
    problems = []
    if everyone < 2:
        problems.append("a pilot compares annotators: name at least two")
    if queries < 1:
        problems.append(
            f"{amount(queries, 'query', 'queries')}: a pilot has at least 1, usually {PILOT_QUERIES}"
        )
    refuse_problems(problems)
    return layout


def _some_queries(chosen: Chosen, count: int, seed: int) -> Chosen:
    """The candidates of `count` of the queries, by a seeded order."""
    queries = set(seeded({candidate.query_id for candidate in chosen.candidates}, seed, str)[:count])
    kept = [candidate for candidate in chosen.candidates if candidate.query_id in queries]
    left_out = dict(chosen.left_out)
    if len(kept) < len(chosen.candidates):
        left_out["the query is not among the pilot's"] = len(chosen.candidates) - len(kept)
    return Chosen(kept, {**chosen.parameters, "queries": count}, left_out)


@dataclass(frozen=True)
class RoundOpened:
    """What a new round holds.

    Attributes
    ----------
    per_annotator: name → number of presentations, blind duplicates and control items included.
    duplicates: name → number of blind duplicates.
    control_items: name → number of control items planted blind.
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
    control_items: dict[str, int]
    shortest_distance: int | None
    median_distance: float | None
    distances: dict[str, float]
    left_out: dict[str, int]


def open_over(
    store: Store,
    layout: RoundLayout,
    read: Callable[[Cursor], Found],
    choose: Callable[[Found], Chosen],
    author: str = COMMAND_LINE,
    also: Callable[[Cursor, RoundOpened], None] = lambda _cursor, _opened: None,
) -> RoundOpened:
    """Open a round over the candidates that `choose` makes of what `read` returns.

    If candidates, rounds, corpus, sample or guide change meanwhile, both are called again.

    Parameters
    ----------
    also: what else to write in the transaction that writes the round.

    Raises
    ------
    NotFoundError: annotators that the project does not know.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is no lead.
    """

    def read_all(cursor: Cursor) -> tuple[str, ControlItemPool | None, set[tuple[str, str, str]], Found]:
        require_author(cursor, author, "lead")
        refuse_who_cannot_judge(require_annotators(cursor, layout.annotators))
        refuse_taken(cursor, layout.name)
        pool = read_control_items(cursor) if layout.control_items else None
        return get_setting(cursor, "guide") or "", pool, practised(cursor), read(cursor)

    def plan(
        inputs: tuple[str, ControlItemPool | None, set[tuple[str, str, str]], Found],
    ) -> tuple[RoundOpened, RoundAssignment, dict[str, Any], Chosen]:
        guide_hash, pool, had_in_practice, found = inputs
        chosen = choose(found)
        bring_texts(store, (candidate.document_id for candidate in chosen.candidates))
        return *_plan(layout, guide_hash, pool, had_in_practice, chosen), chosen

    def write(cursor: Cursor, planned: tuple[RoundOpened, RoundAssignment, dict[str, Any], Chosen]) -> None:
        opened, laid, parameters, chosen = planned
        write_round(cursor, opened.round_id, opened.round, layout.kind, opened.guide_hash, parameters)
        _write_sources(cursor, opened.round_id, chosen.sources)
        append_rows(cursor, "presentations", laid.rows)
        write_control_items(cursor, opened.round_id, laid.items)
        detail = {"name": opened.round, **parameters, "presentations": opened.presentations}
        record_event(cursor, "open round", detail, author)
        also(cursor, opened)

    opened, *_ = write_if_unchanged(
        store,
        fingerprint=project_fingerprint,
        read=read_all,
        plan=plan,
        write=write,
        busy=BUSY,
    )
    return opened


def _plan(
    layout: RoundLayout,
    guide_hash: str,
    pool: ControlItemPool | None,
    had_in_practice: set[tuple[str, str, str]],
    chosen: Chosen,
) -> tuple[RoundOpened, RoundAssignment, dict[str, Any]]:
    if not chosen.candidates:
        raise _nothing(chosen.left_out)
    names, seed = layout.annotators, layout.seed
    parameters = {
        "annotators": names,
        "overlap": layout.overlap,
        "duplicates": layout.duplicates,
        "seed": seed,
        "known": layout.control_items,
        "per_day": layout.per_day,
        **chosen.parameters,
    }
    round_id = digest("round", layout.name, guide_hash, parameters)
    parameters["ask_from"] = layout.ask_from  # the same work has the same id, whatever is asked about it
    if layout.lists:
        parameters["lists"] = True
    pairs = {c[:2] for c in chosen.candidates}
    practised_queries = {
        (who, query) for who, query, document in had_in_practice if (query, document) in pairs
    }
    work = assign(chosen.candidates, names, layout.overlap, seed, practised=practised_queries)
    laid = lay_out(round_id, work, layout, pool, pairs)
    left_out = {**chosen.left_out, **laid.left_out}
    rows = {(row.annotator, row.query_id, row.document_id) for row in laid.rows}
    if rows & had_in_practice:
        left_out[PRACTISED_BEFORE] = len(rows & had_in_practice)
    opened = _opened(layout.name, round_id, guide_hash, len(chosen.candidates), laid, left_out)
    return opened, laid, parameters


def _write_sources(cursor: Cursor, round_id: str, sources: Mapping[tuple[str, str], str]) -> None:
    rows = [(*pair, system) for pair, system in sorted(sources.items())]
    append_rows(cursor, "candidate_sources", rows, ("query_id", "document_id", "system"), pool_id=round_id)
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


def project_fingerprint(cursor: Cursor) -> tuple[object, ...]:
    """What a planned round rests on: guide, corpus, sample, and counts of rows that are only appended."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM presentations),
               (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM adjudications)
        """
    ).fetchall()
    return (*(get_setting(cursor, name) for name in ("guide", "corpus", "sample")), *counts)


def _opened(
    name: str,
    round_id: str,
    guide_hash: str,
    candidates: int,
    laid: RoundAssignment,
    left_out: dict[str, int],
) -> RoundOpened:
    per_annotator = Counter(row.annotator for row in laid.rows)
    repeats = [row for row in laid.rows if row.duplicate_of is not None]
    duplicates = Counter(row.annotator for row in repeats)
    position = {row.presentation_id: row.position for row in laid.rows}
    distances = [row.position - position[row.duplicate_of or ""] for row in repeats]
    return RoundOpened(
        round=name,
        round_id=round_id,
        guide_hash=guide_hash,
        candidates=candidates,
        presentations=len(laid.rows),
        per_annotator=dict(per_annotator),
        duplicates={who: duplicates[who] for who in per_annotator},
        control_items=laid.planted_by,
        shortest_distance=min(distances, default=None),
        median_distance=float(statistics.median(distances)) if distances else None,
        distances=quantiles(distances),
        left_out=left_out,
    )


def _nothing(left_out: Mapping[str, int]) -> RefusedError:
    if not left_out:
        return RefusedError(
            NO_CANDIDATES,
            command="`goldgrade pool --systems bm25 --depth 10` builds one.",
        )
    why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    return RefusedError(
        f"There is nothing left to judge ({why}). Deepen the pool, or show the candidates again.",
        command="--again shows them again.",
    )


def refuse_who_cannot_judge(annotators: Sequence[Annotator]) -> None:
    """Refuse to give work to people who cannot sign in, or may not see what is to be graded.

    Raises
    ------
    RefusedError: somebody is known from imported judgments only, deactivated, or an evaluator; names them
        all.
    """
    evaluators = [annotator.name for annotator in annotators if annotator.role not in JUDGING]
    if evaluators:
        raise RefusedError(
            f"{', '.join(evaluators)} may only evaluate systems (role evaluator), and who grades documents "
            "would know what they are graded by. Leave them out of the round."
        )
    inactive = [annotator.name for annotator in annotators if not annotator.active]
    if inactive:
        raise RefusedError(
            f"{', '.join(inactive)} cannot sign in: deactivated. Leave them out of the round, or activate "
            "them first.",
            command="`goldgrade annotator activate NAME` does that.",
        )
    imported = [annotator.name for annotator in annotators if annotator.imported]
    if imported:
        raise RefusedError(
            f"{', '.join(imported)} cannot sign in: known from imported judgments only. Give them a "
            "password, or leave them out of the round.",
            command="`goldgrade annotator add NAME` gives one.",
        )
