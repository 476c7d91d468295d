"""Judgments that were made elsewhere: onto open presentations where there are some, else into a round.

A judgment for a pair that waits in an open round of the same annotator answers that presentation. All
others get presentations in a round of kind 'imported', named after the source. Either way they pass
`judgments.judge`, like those of the app. Importing the same again changes nothing, and never takes back
what the annotator has said since.

What is known is read in one short turn, everything is worked out without the file, and written in one
transaction; should somebody have written about the same annotators in between, it starts again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from curation.errors import InputError, RefusedError
from curation.labeling.annotators import add_imported, list_annotators
from curation.labeling.guides import Guide, current_guide, guide_by_hash
from curation.labeling.judgments import Context, Event, Known, State, Submission, append_events, judge
from curation.sources.corpus import current_snapshot
from curation.store import Cursor, Store, append, append_rows, record_event, utc_now
from curation.store.rows import Presentation, Query
from curation.text import canonical_json, digest

TRIES = 5
Voice = tuple[str, str, str]
"""Who judges what: annotator, query id, document id. An annotator has one current grade for a pair."""


class ImportedJudgment(NamedTuple):
    """One grade from a file; `grade` None is cannot-tell, `line` says where it stood."""

    query_id: str
    document_id: str
    annotator: str
    grade: int | None
    note: str | None = None
    reason: str | None = None
    submitted_at: datetime | None = None
    line: int = 0

    @property
    def voice(self) -> Voice:
        """Who judges what."""
        return (self.annotator, self.query_id, self.document_id)


@dataclass(frozen=True)
class JudgmentImport:
    """What an import of judgments did.

    Attributes
    ----------
    round: the round of imported judgments, or None if all answered open presentations.
    judgments: new judgments written; `filled` of them answered presentations of a labeling round.
    changed: judgments whose grade differs from the stored one: appended as corrections.
    unchanged: judgments that the project has already.
    superseded: judgments that were imported before and that the annotator, or a later import, has changed
        since; the newer answer stands.
    added_pairs: pairs that no pool held; their source is 'imported'.
    added_annotators: names that the project did not know; they cannot sign in.
    """

    round: str | None
    judgments: int
    filled: int
    changed: int
    unchanged: int
    superseded: int
    added_queries: int
    added_pairs: int
    added_annotators: list[str]
    left_out: dict[str, int]


class _Held(NamedTuple):
    """The presentation that carries, or waits for, one annotator's voice on a pair."""

    presentation_id: str
    next_revision: int
    answered: bool
    grade: int | None
    labeling: bool
    guide_hash: str
    closed: bool = False


class _Found(NamedTuple):
    """What the project knows of the voices' annotators, pairs and documents, as rows."""

    mark: tuple[object, ...]
    guides: dict[str, Guide]
    guide: Guide
    documents: list[tuple[str, str]]
    annotators: list[str]
    queries: list[tuple[str]]
    pairs: list[tuple[str, str]]
    presentations: list[tuple[object, ...]]
    keys: list[tuple[str, str, str, int]]
    positions: list[tuple[str, int]]
    round_exists: bool


@dataclass
class _Plan:
    """What is to be written, and counts."""

    queries: list[Query] = field(default_factory=list)
    annotators: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    presentations: list[Presentation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    filled: int = 0
    changed: int = 0
    unchanged: int = 0
    superseded: int = 0


def add_judgments(
    store: Store,
    judgments: Sequence[ImportedJudgment],
    source: str,
    new_queries: Sequence[Query] = (),
    left_out: dict[str, int] | None = None,
) -> JudgmentImport:
    """Write judgments made elsewhere, in one transaction.

    Parameters
    ----------
    source: names the round for those that answer no open presentation; usually the file's name.
    new_queries: queries that the judgments are about and the project may not hold yet.
    left_out: what the reader has left out already; returned with what this step adds.

    Raises
    ------
    InputError: grades outside the scale, two grades of one annotator for one pair, unknown documents.
    RefusedError: there is no corpus, or the same annotators kept judging meanwhile.
    """
    left_out = dict(left_out or {})
    voices = _one_voice(judgments, left_out)
    name = f"imported: {source}"
    round_id = digest("round", name)
    for _ in range(TRIES):
        with store.reading() as cursor:
            found = _read(cursor, voices, round_id)
        plan = _plan(voices, found, round_id, new_queries)
        result = _result(plan, name, left_out)
        with store.transaction() as cursor:
            if _mark(cursor, voices) == found.mark:
                _write(cursor, plan, found, round_id, name, source)
                if plan.events:
                    record_event(cursor, "import judgments", {"source": source, **_counts(result)})
                return result
    raise RefusedError(
        "The same annotators were judging while their judgments were imported. Try again when they rest."
    )


def _one_voice(
    judgments: Sequence[ImportedJudgment], left_out: dict[str, int]
) -> dict[Voice, ImportedJudgment]:
    voices: dict[Voice, ImportedJudgment] = {}
    problems = []
    for judgment in judgments:
        first = voices.setdefault(judgment.voice, judgment)
        if first is judgment:
            continue
        if first.grade == judgment.grade:
            left_out["the same judgment again"] = left_out.get("the same judgment again", 0) + 1
        else:
            problems.append(
                f"line {judgment.line}: {judgment.annotator} gives the pair ({judgment.query_id}, "
                f"{judgment.document_id}) {judgment.grade}, but {first.grade} on line {first.line}"
            )
    if problems:
        raise InputError(
            problems, way_out="An annotator has one grade for a pair: keep one of the two lines."
        )
    return voices


def _mark(cursor: Cursor, voices: Mapping[Voice, object]) -> tuple[object, ...]:
    """Whatever must not change between reading and writing; rows are only ever appended."""
    names = sorted({voice[0] for voice in voices})
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM presentations WHERE annotator IN (SELECT unnest($names::TEXT[]))),
               (SELECT count(*) FROM judgment_events WHERE author IN (SELECT unnest($names::TEXT[]))),
               (SELECT count(*) FROM queries), (SELECT count(*) FROM candidates),
               (SELECT count(*) FROM annotators)
        """,
        {"names": names},
    ).fetchall()
    return (current_snapshot(cursor), current_guide(cursor).guide_hash, *counts[0])


def _read(cursor: Cursor, voices: Mapping[Voice, object], round_id: str) -> _Found:
    names = sorted({voice[0] for voice in voices})
    documents = sorted({voice[2] for voice in voices})
    guide = current_guide(cursor)
    rounds = cursor.execute("SELECT round_id, guide_hash FROM round_states").fetchall()
    return _Found(
        mark=_mark(cursor, voices),
        guides={
            found: guide_by_hash(cursor, found) for found in {guide.guide_hash, *(row[1] for row in rounds)}
        },
        guide=guide,
        documents=cursor.execute(_DOCUMENTS, [current_snapshot(cursor), documents]).fetchall(),
        annotators=[annotator.name for annotator in list_annotators(cursor)],
        queries=cursor.execute("SELECT query_id FROM queries").fetchall(),
        pairs=cursor.execute("SELECT query_id, document_id FROM candidates").fetchall(),
        presentations=cursor.execute(_PRESENTATIONS, [names]).fetchall(),
        keys=cursor.execute(_KEYS, [names]).fetchall(),
        positions=cursor.execute(_POSITIONS, [round_id]).fetchall(),
        round_exists=any(row[0] == round_id for row in rounds),
    )


def _plan(
    voices: Mapping[Voice, ImportedJudgment], found: _Found, round_id: str, new_queries: Sequence[Query]
) -> _Plan:
    """Everything that is to be written, worked out without the database."""
    hashes = dict(found.documents)
    _refuse_unknown(voices, found.guide, hashes)
    known_queries = {row[0] for row in found.queries}
    plan = _Plan(
        queries=[query for query in new_queries if query.query_id not in known_queries],
        annotators=sorted({voice[0] for voice in voices} - set(found.annotators)),
        pairs=sorted({voice[1:] for voice in voices} - set(found.pairs)),
    )
    rows = {(row[0], row[1], row[2]): _Held(*row[3:]) for row in found.presentations}  # type: ignore[arg-type]
    held: dict[Voice, _Held] = {voice: rows[voice] for voice in voices if voice in rows}
    positions: dict[str, int] = defaultdict(int, found.positions)
    for voice in voices:
        if voice not in held:
            presentation = _presentation(round_id, voice, hashes[voice[2]], positions)
            plan.presentations.append(presentation)
            held[voice] = _Held(presentation.presentation_id, 0, False, None, False, found.guide.guide_hash)
    _judge(plan, voices, held, found)
    return plan


def _judge(
    plan: _Plan, voices: Mapping[Voice, ImportedJudgment], held: Mapping[Voice, _Held], found: _Found
) -> None:
    context = Context(
        {place.presentation_id: _state(voice[0], place) for voice, place in held.items()},
        {row[0]: Known(*row[1:]) for row in found.keys},
        found.guides,
    )
    submissions: dict[str, list[Submission]] = defaultdict(list)
    for voice, judgment in voices.items():
        place, key = held[voice], _key(held[voice], judgment)
        if place.answered and place.grade == judgment.grade:
            plan.unchanged += 1
        elif key in context.known:
            plan.superseded += 1
        else:
            plan.changed += place.answered
            plan.filled += place.labeling and not place.answered
            submissions[voice[0]].append(_submission(judgment, place, key))
    for annotator, items in submissions.items():
        outcomes, events = judge(annotator, items, context)
        problems = [f"{o.presentation_id}: {o.status}: {o.message}" for o in outcomes if o.status != "saved"]
        if problems:
            raise InputError(problems)
        plan.events.extend(events)


def _refuse_unknown(
    voices: Mapping[Voice, ImportedJudgment], guide: Guide, hashes: Mapping[str, str]
) -> None:
    scale = [
        f"line {judgment.line}: {guide.outside(judgment.grade)}"
        for judgment in voices.values()
        if judgment.grade is not None and guide.outside(judgment.grade)
    ]
    if scale:
        raise InputError(scale, way_out="Map other scales with --grade-map, for example 100=3,10=2,1=1,0=0.")
    documents = [
        f"line {judgment.line}: the corpus has no document {judgment.document_id!r}"
        for judgment in voices.values()
        if judgment.document_id not in hashes
    ]
    if documents:
        raise InputError(
            documents, way_out="Import the corpus that was judged, or leave these out with --skip-unknown."
        )


def _presentation(round_id: str, voice: Voice, content_hash: str, positions: dict[str, int]) -> Presentation:
    position = positions[voice[0]]
    positions[voice[0]] += 1
    presentation_id = digest("presentation", round_id, *voice)
    return Presentation(presentation_id, round_id, *voice, content_hash, position, None)


def _state(annotator: str, place: _Held) -> State:
    return State(annotator, place.guide_hash, place.next_revision, place.answered, place.closed)


def _key(place: _Held, judgment: ImportedJudgment) -> str:
    return digest("import", place.presentation_id, judgment.grade)


def _submission(judgment: ImportedJudgment, place: _Held, key: str) -> Submission:
    return Submission(
        presentation_id=place.presentation_id,
        revision=place.next_revision,
        kind="cannot_tell" if judgment.grade is None else "grade",
        client_key=key,
        grade=judgment.grade,
        reason=judgment.reason,
        note=judgment.note,
        submitted_at=judgment.submitted_at,
    )


def _write(cursor: Cursor, plan: _Plan, found: _Found, round_id: str, name: str, source: str) -> None:
    if plan.presentations and not found.round_exists:
        cursor.execute(
            "INSERT INTO rounds VALUES (?, ?, 'imported', ?, ?, ?)",
            [round_id, name, found.guide.guide_hash, canonical_json({"source": source}), utc_now()],
        )
    for annotator in plan.annotators:
        add_imported(cursor, annotator)
    if plan.queries:
        columns = dict(zip(Query._fields, map(list, zip(*plan.queries, strict=True)), strict=True))
        append(cursor, "queries", {**columns, "metadata": ["{}"] * len(plan.queries)})
    if plan.pairs:
        queries, documents = map(list, zip(*plan.pairs, strict=True))
        append(cursor, "candidates", {"query_id": queries, "document_id": documents})
        sources = {"pool_id": [round_id] * len(queries), "query_id": queries, "document_id": documents}
        append(cursor, "candidate_sources", {**sources, "system": ["imported"] * len(queries)})
    append_rows(cursor, "presentations", plan.presentations)
    append_events(cursor, plan.events)


def _result(plan: _Plan, name: str, left_out: dict[str, int]) -> JudgmentImport:
    return JudgmentImport(
        round=name if plan.presentations else None,
        judgments=len(plan.events) - plan.changed,
        filled=plan.filled,
        changed=plan.changed,
        unchanged=plan.unchanged,
        superseded=plan.superseded,
        added_queries=len(plan.queries),
        added_pairs=len(plan.pairs),
        added_annotators=plan.annotators,
        left_out=left_out,
    )


def _counts(result: JudgmentImport) -> dict[str, int]:
    return {
        "judgments": result.judgments,
        "filled": result.filled,
        "changed": result.changed,
        "unchanged": result.unchanged,
        "superseded": result.superseded,
        "added_pairs": result.added_pairs,
        "added_annotators": len(result.added_annotators),
    }


_DOCUMENTS = """
SELECT document_id, content_hash FROM snapshot_documents
WHERE snapshot_id = ? AND document_id IN (SELECT unnest(?::TEXT[]))
"""

# The last row of a pair is the one to write to: the one answered last, else one that waits. What counts for
# nothing (pilots, practice, known answers) is left to be answered on screen.
_PRESENTATIONS = """
SELECT p.annotator, p.query_id, p.document_id, p.presentation_id, coalesce(s.next_revision, 0),
       coalesce(s.answered, false) AS answered, s.grade, r.kind IN ('labeling', 'audit'),
       r.guide_hash, r.closed
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice') AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = p.round_id AND k.query_id = p.query_id AND k.document_id = p.document_id)
  AND p.annotator IN (SELECT unnest(?::TEXT[]))
ORDER BY answered, r.opened_at, p.presentation_id
"""

_KEYS = """
SELECT client_key, author, presentation_id, revision FROM judgment_events
WHERE author IN (SELECT unnest(?::TEXT[]))
"""

_POSITIONS = "SELECT annotator, count(*) FROM presentations WHERE round_id = ? GROUP BY annotator"
