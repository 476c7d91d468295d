"""The creation of rounds over candidates; all items of a round are assigned before anyone judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from curation.core.digests import digest, sort_by_seed
from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds import control_items
from curation.labeling.rounds.assignment import RoundAssignment, assign_queries, lay_out
from curation.labeling.rounds.candidates import CandidateRow, Selection, choose_candidates, read_candidates
from curation.labeling.rounds.query_draw import DrawFrame, QueryDraw, draw_candidates, load_draw, read_frame
from curation.labeling.rounds.rounds import refuse_taken_name, refuse_unable_annotators, write_round
from curation.people.annotators import list_eligible_annotators, require_annotators, require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, get_setting, record_event
from curation.store.documents import current_snapshot, snapshot_versions
from curation.store.planned_writes import write_if_unchanged

BUSY = "The project changed while the round was being planned. Try again."
NO_CANDIDATES = "There are no candidates to judge yet. Build a pool."
DEEPER_POOL = "Build a deeper pool, or show candidates again."
PRACTISED_BEFORE = (
    "items went to people who know the expected grade from practice, because nobody else was available"
)
Inputs = TypeVar("Inputs")
_Project = tuple[str, control_items.ControlItemPool | None, set[control_items.AnnotatorPair]]
"""The current guide, the pairs that can be control items, and the pairs whose grade practice has shown."""


@dataclass(frozen=True)
class OpenedRound:
    """A new round, with counts of its presentations, candidates and duplicates.

    Attributes
    ----------
    per_annotator: name → number of presentations, blind duplicates and control items included.
    duplicates, control_items: name → number of blind duplicates, and of control items.
    least_distance: the smallest distance between the two showings of a blind duplicate, in presentations;
        None without blind duplicates.
    left_out: reason → number of candidates or duplicates left out of the round.
    draw: the random draw of the round's queries; None if the round covers all queries.
    queries: the number of queries of the candidates.
    """

    round: str
    round_id: str
    kind: str
    guide_hash: str
    candidates: int
    presentations: int
    per_annotator: dict[str, int]
    duplicates: dict[str, int]
    control_items: dict[str, int]
    least_distance: int | None
    left_out: dict[str, int]
    draw: QueryDraw | None = None
    queries: int = 0

    @property
    def sentences(self) -> list[str]:
        """Return sentences that count candidates, presentations and candidates left out."""
        kind = "Pilot" if self.kind == "pilot" else "Round"
        items = pluralize(self.presentations, "presentation")
        sentences = [f"{kind} {self.round}: {pluralize(self.candidates, 'candidate')}, {items}."]
        if self.draw is not None:
            queries, drawn = map(sum, zip(*self.draw.counts.values(), strict=True))
            sentences.append(f"Drew {drawn:,} of {pluralize(queries, 'query', 'queries')}.")
        if self.least_distance is not None:
            least = pluralize(self.least_distance, "presentation")
            sentences.append(f"Blind duplicates come back after {least} or more.")
        return [*sentences, *describe_left_out(self.left_out)]

    @property
    def tables(self) -> list[Table]:
        """Return tables of the draw by stratum and of each annotator's items."""
        rows = tuple(
            (annotator, count, self.duplicates[annotator], self.control_items.get(annotator, 0))
            for annotator, count in self.per_annotator.items()
        )
        columns = ("Annotator", "Presentations", "Blind duplicates", "Control items")
        draw = [] if self.draw is None else [self.draw.by_stratum]
        return [*draw, Table("Work", columns, rows)]


_Plan = tuple[OpenedRound, RoundAssignment, dict[str, Any]]
"""A round, its presentations, and the parameters that are stored with it."""


def open_round(
    store: Store,
    request: RoundRequest,
    author: str = COMMAND_LINE,
    pairs: Mapping[tuple[str, str], str] | None = None,
    dry_run: bool = False,
) -> OpenedRound:
    """Open a round over the candidates of current queries that no round has shown yet.

    A pilot shows the same few queries to everyone, without blind duplicates or control items. A pilot does
    not count: its candidates can be judged in a labeling round afterwards.

    Parameters
    ----------
    author: the lead who opens the round, or the command line, for the audit trail.
    pairs: the pairs to choose from, (query, document) → system; None for all candidates. A pair becomes a
        candidate of the system that returned the document; '' for a pair that is already a candidate.
    dry_run: plan the round, and write nothing.

    Raises
    ------
    InputError: the numbers do not fit together, or the strata of a draw need more or fewer queries.
    NotFoundError: the project does not know an annotator.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is not a lead.
    """
    request = request.checked()
    if pairs is not None and not pairs:
        raise RefusedError("The round can show none of the chosen pairs.")

    def read(cursor: Cursor) -> tuple[list[CandidateRow], set[str], DrawFrame | None]:
        rows, active = read_candidates(cursor, pilots=request.pilot)
        frame = read_frame(cursor) if request.draw is not None else None
        if pairs is None:
            return rows, active, frame
        rows = [row for row in rows if (row.query_id, row.document_id) in pairs]
        pooled = {(row.query_id, row.document_id) for row in rows}
        new_pairs = sorted({pair for pair in pairs if pairs[pair]} - pooled)
        new_ids = [document_id for _, document_id in new_pairs]
        versions = snapshot_versions(cursor, current_snapshot(cursor), new_ids)
        new_rows = [CandidateRow(*pair, versions.get(pair[1]), shown=False) for pair in new_pairs]
        return [*rows, *new_rows], active, frame

    def choose(inputs: tuple[list[CandidateRow], set[str], DrawFrame | None]) -> Selection:
        rows, active, frame = inputs
        choice = choose_candidates(rows, active, request.again)
        sources = {candidate.pair: pairs[candidate.pair] for candidate in choice.candidates} if pairs else {}
        choice = replace(choice, sources={pair: system for pair, system in sources.items() if system})
        if frame is not None and request.draw is not None:
            return draw_candidates(choice, rows, active, frame, request.draw, request.seed)
        return _choose_queries(choice, request.queries, request.seed) if request.pilot else choice

    return open_round_over(store, request, read, choose, author, dry_run=dry_run)


def explain_no_round(cursor: Cursor) -> str | None:
    """Return the reason why the project cannot open a round over a pool, or None if it can open one."""
    if not cursor.execute("SELECT 1 FROM candidates LIMIT 1").fetchall():
        return NO_CANDIDATES
    return (
        None if list_eligible_annotators(cursor) else "Nobody can judge yet. Add people on the page People."
    )


def open_round_over(
    store: Store,
    layout: RoundRequest,
    read: Callable[[Cursor], Inputs],
    choose: Callable[[Inputs], Selection],
    author: str = COMMAND_LINE,
    also: Callable[[Cursor, OpenedRound], None] = lambda _cursor, _opened: None,
    dry_run: bool = False,
) -> OpenedRound:
    """Open a round over the candidates that `choose` selects from the result of `read`.

    If candidates, rounds, corpus, sample or guide change meanwhile, both functions are called again.

    Parameters
    ----------
    also: function that writes further rows in the same transaction as the round.
    dry_run: plan the round, and write nothing.

    Raises
    ------
    NotFoundError: the project does not know an annotator.
    RefusedError: the name is taken, somebody cannot sign in, there is nothing to judge, the project kept
        changing, or the author is not a lead.
    """

    def read_all(cursor: Cursor) -> tuple[_Project, Inputs]:
        require_author(cursor, author, "lead")
        refuse_unable_annotators(require_annotators(cursor, layout.annotators))
        refuse_taken_name(cursor, layout.name)
        pool = control_items.read_control_items(cursor) if layout.control_items else None
        project = (get_setting(cursor, "guide") or "", pool, control_items.read_practised_pairs(cursor))
        return project, read(cursor)

    def plan(inputs: tuple[_Project, Inputs]) -> tuple[_Plan, Selection]:
        project, further_inputs = inputs
        choice = choose(further_inputs)
        if not dry_run:
            store_linked_texts(store, (candidate.document_id for candidate in choice.candidates))
        return _plan_round(layout, *project, choice), choice

    def write(cursor: Cursor, planned: tuple[_Plan, Selection]) -> None:
        (opened, assignment, parameters), choice = planned
        write_round(cursor, opened.round_id, opened.round, layout.kind, opened.guide_hash, parameters)
        _write_sources(cursor, opened.round_id, choice.sources)
        append_rows(cursor, "presentations", assignment.rows)
        control_items.write_control_items(cursor, opened.round_id, assignment.items)
        detail = {"name": opened.round, **parameters, "presentations": opened.presentations}
        record_event(cursor, "open round", detail, author)
        also(cursor, opened)

    if dry_run:
        with store.reading() as cursor:
            inputs = read_all(cursor)
        return plan(inputs)[0][0]
    planned = write_if_unchanged(
        store, fingerprint=read_project_fingerprint, read=read_all, plan=plan, write=write, busy=BUSY
    )
    return planned[0][0]


def read_project_fingerprint(cursor: Cursor) -> tuple[object, ...]:
    """Read settings and row counts, to detect changes while a round is planned."""
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM candidates), (SELECT count(*) FROM presentations),
               (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM adjudications)
        """
    ).fetchall()
    return (*(get_setting(cursor, name) for name in ("guide", "corpus", "sample")), *counts)


def _choose_queries(chosen: Selection, count: int, seed: int) -> Selection:
    """Choose the candidates of `count` queries, in random order by seed."""
    queries = set(sort_by_seed({candidate.query_id for candidate in chosen.candidates}, seed, str)[:count])
    chosen_candidates = [candidate for candidate in chosen.candidates if candidate.query_id in queries]
    left_out = dict(chosen.left_out)
    if len(chosen_candidates) < len(chosen.candidates):
        left_out["the query was not drawn for the pilot"] = len(chosen.candidates) - len(chosen_candidates)
    return Selection(chosen_candidates, {**chosen.parameters, "queries": count}, left_out)


def _plan_round(
    layout: RoundRequest,
    guide_hash: str,
    pool: control_items.ControlItemPool | None,
    practised_pairs: set[control_items.AnnotatorPair],
    choice: Selection,
) -> _Plan:
    if not choice.candidates:
        raise _no_candidates_error(choice.left_out)
    names = list(layout.annotators)
    parameters = {
        "annotators": names,
        "overlap": layout.overlap,
        "duplicates": layout.duplicates,
        "seed": layout.seed,
        "known": layout.control_items,
        "per_day": layout.per_day,
        **choice.parameters,
    }
    round_id = digest("round", layout.name, guide_hash, parameters)
    parameters["ask_from"] = layout.ask_from  # not part of the id, because the question changes no item
    if layout.lists:
        parameters["lists"] = True
    pairs = {candidate.pair for candidate in choice.candidates}
    practised_queries = {pair[:2] for pair in practised_pairs if pair[1:] in pairs}
    work = assign_queries(choice.candidates, names, layout.overlap, layout.seed, practised=practised_queries)
    assignment = lay_out(round_id, work, layout, pool, pairs)
    left_out = {**choice.left_out, **assignment.left_out}
    assigned_pairs = {(row.annotator, row.query_id, row.document_id) for row in assignment.rows}
    if assigned_pairs & practised_pairs:
        left_out[PRACTISED_BEFORE] = len(assigned_pairs & practised_pairs)
    per_annotator = Counter(row.annotator for row in assignment.rows)
    repeats = [row for row in assignment.rows if row.duplicate_of is not None]
    duplicates = Counter(row.annotator for row in repeats)
    positions = {row.presentation_id: row.position for row in assignment.rows}
    distances = [row.position - positions[row.duplicate_of or ""] for row in repeats]
    draw = choice.parameters.get("query_draw")
    opened = OpenedRound(
        round=layout.name,
        round_id=round_id,
        kind=layout.kind,
        guide_hash=guide_hash,
        candidates=len(choice.candidates),
        presentations=len(assignment.rows),
        per_annotator=dict(per_annotator),
        duplicates={annotator: duplicates[annotator] for annotator in per_annotator},
        control_items=assignment.planted_by,
        least_distance=min(distances, default=None),
        left_out=left_out,
        draw=None if draw is None else load_draw(draw),
        queries=len({candidate.query_id for candidate in choice.candidates}),
    )
    return opened, assignment, parameters


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


def _no_candidates_error(left_out: Mapping[str, int]) -> RefusedError:
    if not left_out:
        return RefusedError(
            NO_CANDIDATES, command="`goldgrade pool --systems bm25 --depth 10` builds a pool."
        )
    reasons = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items())
    return RefusedError(
        f"No candidates are left to judge ({reasons}). {DEEPER_POOL}",
        command="--again shows candidates again.",
    )
