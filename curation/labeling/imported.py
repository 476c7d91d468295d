"""Judgments that were made elsewhere: onto open presentations where there are some, else into a round.

A judgment for a pair that waits in an open round of the same annotator answers that presentation. All
others get presentations in a round of kind 'imported', named after the source. Either way the events
are written by `judgments.record`, like those of the app, and importing the same again changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.errors import InputError
from curation.labeling.annotators import add_imported, list_annotators
from curation.labeling.guides import current_guide
from curation.labeling.judgments import Outcome, Submission, record, refuse_outside_scale
from curation.labeling.rounds import add_presentations
from curation.store import Cursor, Store, append, record_event, require_setting, utc_now
from curation.store.rows import Presentation, Query
from curation.text import canonical_json, digest


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
    def voice(self) -> tuple[str, str, str]:
        """Who judges what: one annotator has one current grade for a pair."""
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
    added_pairs: pairs that no pool held; their source is 'imported'.
    added_annotators: names that the project did not know; they cannot sign in.
    """

    round: str | None
    judgments: int
    filled: int
    changed: int
    unchanged: int
    added_queries: int
    added_pairs: int
    added_annotators: list[str]
    left_out: dict[str, int]


class _Held(NamedTuple):
    """The presentation that carries, or waits for, one annotator's voice on a pair."""

    presentation_id: str
    revision: int
    answered: bool
    grade: int | None
    labeling: bool


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
    """
    left_out = dict(left_out or {})
    with store.transaction() as cursor:
        refuse_outside_scale([(j.line, j.grade) for j in judgments], current_guide(cursor))
        voices = _one_voice(judgments, left_out)
        added_queries = _add_queries(cursor, new_queries)
        hashes = _content_hashes(cursor, voices)
        added_annotators = _add_annotators(cursor, voices)
        round_name = f"imported: {source}"
        round_id = digest("round", round_name)
        added_pairs = _add_pairs(cursor, voices, round_id)
        held = _held(cursor, voices)
        new = [voice for voice in voices if voice not in held]
        _add_round(cursor, round_id, round_name, source, [(*voice, hashes[voice[2]]) for voice in new])
        held.update({voice: _Held(_presentation_id(round_id, voice), 0, False, None, False) for voice in new})
        done = _record(cursor, voices, held)
        result = JudgmentImport(
            round_name if new else None, *done, added_queries, added_pairs, added_annotators, left_out
        )
        record_event(cursor, "import judgments", {"source": source, **_counts(result)})
    return result


def _one_voice(
    judgments: Sequence[ImportedJudgment], left_out: dict[str, int]
) -> dict[tuple[str, str, str], ImportedJudgment]:
    voices: dict[tuple[str, str, str], ImportedJudgment] = {}
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


def _add_queries(cursor: Cursor, queries: Sequence[Query]) -> int:
    known = {row[0] for row in cursor.execute("SELECT query_id FROM queries").fetchall()}
    new = [query for query in queries if query.query_id not in known]
    if new:
        columns = dict(zip(Query._fields, map(list, zip(*new, strict=True)), strict=True))
        append(cursor, "queries", {**columns, "metadata": ["{}"] * len(new)})
    return len(new)


def _content_hashes(cursor: Cursor, voices: dict[tuple[str, str, str], ImportedJudgment]) -> dict[str, str]:
    snapshot = require_setting(
        cursor, "corpus", "Import the corpus that was judged first: `goldset import corpus PATH`."
    )
    rows = cursor.execute(
        "SELECT document_id, content_hash FROM snapshot_documents WHERE snapshot_id = ?", [snapshot]
    ).fetchall()
    hashes = {str(document_id): str(content_hash) for document_id, content_hash in rows}
    problems = [
        f"line {judgment.line}: the corpus has no document {judgment.document_id!r}"
        for judgment in voices.values()
        if judgment.document_id not in hashes
    ]
    if problems:
        raise InputError(
            problems, way_out="Import the corpus that was judged, or leave these out with --skip-unknown."
        )
    return hashes


def _add_annotators(cursor: Cursor, voices: dict[tuple[str, str, str], ImportedJudgment]) -> list[str]:
    known = {annotator.name for annotator in list_annotators(cursor)}
    new = sorted({voice[0] for voice in voices} - known)
    for name in new:
        add_imported(cursor, name)
    return new


def _add_pairs(cursor: Cursor, voices: dict[tuple[str, str, str], ImportedJudgment], round_id: str) -> int:
    known = set(cursor.execute("SELECT query_id, document_id FROM candidates").fetchall())
    new = sorted({(query, document) for _, query, document in voices} - known)
    if new:
        queries, documents = map(list, zip(*new, strict=True))
        append(cursor, "candidates", {"query_id": queries, "document_id": documents})
        sources = {"pool_id": [round_id] * len(new), "query_id": queries, "document_id": documents}
        append(cursor, "candidate_sources", {**sources, "system": ["imported"] * len(new)})
    return len(new)


def _held(
    cursor: Cursor, voices: dict[tuple[str, str, str], ImportedJudgment]
) -> dict[tuple[str, str, str], _Held]:
    """For each voice the presentation to write to: the one answered last, else one that waits."""
    names = sorted({voice[0] for voice in voices})
    rows = cursor.execute(
        """
        SELECT p.annotator, p.query_id, p.document_id, p.presentation_id,
               coalesce(s.next_revision, 0), coalesce(s.answered, false) AS answered, s.grade,
               r.kind = 'labeling'
        FROM presentations p JOIN rounds r USING (round_id)
        LEFT JOIN presentation_states s USING (presentation_id)
        WHERE p.duplicate_of IS NULL AND p.annotator IN (SELECT unnest(?::TEXT[]))
        ORDER BY answered, r.opened_at, p.presentation_id
        """,
        [names],
    ).fetchall()
    held = {tuple(row[:3]): _Held(*row[3:]) for row in rows}
    return {voice: found for voice, found in held.items() if voice in voices}


def _add_round(
    cursor: Cursor, round_id: str, name: str, source: str, rows: Sequence[tuple[str, str, str, str]]
) -> None:
    if not rows:
        return
    guide = current_guide(cursor)
    if not cursor.execute("SELECT 1 FROM rounds WHERE round_id = ?", [round_id]).fetchone():
        cursor.execute(
            "INSERT INTO rounds VALUES (?, ?, 'imported', ?, ?, ?)",
            [round_id, name, guide.guide_hash, canonical_json({"source": source}), utc_now()],
        )
    taken = cursor.execute(
        "SELECT annotator, count(*) FROM presentations WHERE round_id = ? GROUP BY annotator", [round_id]
    ).fetchall()
    next_position: dict[str, int] = defaultdict(int, dict(taken))
    presentations = []
    for annotator, query_id, document_id, content_hash in rows:
        presentation_id = _presentation_id(round_id, (annotator, query_id, document_id))
        position = next_position[annotator]
        next_position[annotator] += 1
        presentations.append(
            Presentation(
                presentation_id, round_id, annotator, query_id, document_id, content_hash, position, None
            )
        )
    add_presentations(cursor, presentations)


def _presentation_id(round_id: str, voice: tuple[str, str, str]) -> str:
    return digest("presentation", round_id, *voice)


def _record(
    cursor: Cursor,
    voices: dict[tuple[str, str, str], ImportedJudgment],
    held: dict[tuple[str, str, str], _Held],
) -> tuple[int, int, int, int]:
    """Write what is new or changed; returns (written, filled, changed, unchanged)."""
    submissions: dict[str, list[Submission]] = defaultdict(list)
    filled = changed = unchanged = 0
    for voice, judgment in voices.items():
        place = held[voice]
        if place.answered and place.grade == judgment.grade:
            unchanged += 1
            continue
        changed += place.answered
        filled += place.labeling and not place.answered
        submissions[voice[0]].append(_submission(judgment, place))
    for annotator, items in submissions.items():
        _refuse_failed(record(cursor, annotator, items))
    written = sum(map(len, submissions.values())) - changed
    return written, filled, changed, unchanged


def _submission(judgment: ImportedJudgment, place: _Held) -> Submission:
    return Submission(
        presentation_id=place.presentation_id,
        revision=place.revision,
        kind="cannot_tell" if judgment.grade is None else "grade",
        client_key=digest("import", place.presentation_id, place.revision, judgment.grade),
        grade=judgment.grade,
        reason=judgment.reason,
        note=judgment.note,
        submitted_at=judgment.submitted_at,
    )


def _refuse_failed(outcomes: Sequence[Outcome]) -> None:
    problems = [f"{o.presentation_id}: {o.status}: {o.message}" for o in outcomes if o.status != "saved"]
    if problems:
        raise InputError(problems)


def _counts(result: JudgmentImport) -> dict[str, int]:
    return {
        "judgments": result.judgments,
        "filled": result.filled,
        "changed": result.changed,
        "unchanged": result.unchanged,
        "added_pairs": result.added_pairs,
        "added_annotators": len(result.added_annotators),
    }
