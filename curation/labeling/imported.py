"""Import of judgments from a file: each judgment is stored as the answer to a presentation.

If an annotator has an open presentation of the judged pair, the imported judgment answers that presentation.
All other judgments get presentations in a round of kind 'imported', named after the source. Imported
judgments are checked by `judging.judge_submissions`, like judgments from the app. Importing the same file
again changes nothing, and never overrides a newer answer from the screen. If several files hold the same
pair, the last imported file counts, even if it repeats an earlier file.

A file may be imported as a pass: a named round in which the same people judged the same pairs again. Such a
file corrects only judgments of the named round, and only files with this name write to the round. As in all
rounds, each person's judgment in the newest round counts.

A judgment is about the text that the annotator read, and files do not name the text. The import assumes the
current text of the corpus. If the project has shown the annotator a different text, the import is refused
unless `about` names the text. Judgments already stored with the same grade stay unchanged.
Judgments of a pass are always about the current text of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from curation.core.digests import digest
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.guides.guide import current_guide, load_guide
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.ingest.importers.imported_judgment import ImportedJudgment, JudgmentKey, merge_judgments
from curation.ingest.importers.judgments import JudgmentFile
from curation.ingest.importers.queries import add_other_ids
from curation.ingest.outcome import ImportOutcome, describe_judgment_columns
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.labeling.import_plan import TEXTS, ImportInputs, ImportPlan, plan_import
from curation.labeling.imported_annotators import refuse_alike_names
from curation.labeling.judging import append_events, read_evidence_marks
from curation.labeling.rounds.rounds import refuse_taken_name, write_round
from curation.people.annotators import add_imported_annotator, list_annotators
from curation.people.seal_access import read_closed_access
from curation.store import COMMAND_LINE, Cursor, Query, Store, append_rows, record_event, write_if_unchanged
from curation.store.documents import current_snapshot, documents_by_hash, snapshot_versions

COUNT_NAMES = ("judgments", "filled", "changed", "unchanged", "superseded", "sealed")
ABSENT_QUOTE = "an evidence quote that is not in the text"
BUSY = "The annotators of this file were judging during the import. Try again when they pause."
# An import writes to a pair's last row: the presentation answered last, else an open one. Presentations that
# do not count (pilots, practice, control items) wait for answers on screen. A pass is selected by its name.
_PRESENTATIONS = """
SELECT p.annotator, p.query_id, p.document_id, p.presentation_id, coalesce(s.next_revision, 0),
       coalesce(s.answered, false) AS answered, s.grade, r.kind IN ('labeling', 'audit'),
       r.guide_hash, r.closed, p.content_hash,
       CASE WHEN $pass THEN r.round_id = $round ELSE r.kind <> 'imported' OR r.name[:10] = 'imported: ' END
FROM live_presentations p JOIN round_states r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
ANTI JOIN known_answers USING (round_id, query_id, document_id)
WHERE p.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')
  AND p.annotator IN (SELECT unnest($names::TEXT[]))
ORDER BY answered, r.sequence, p.presentation_id
"""
_MOVED = """
SELECT DISTINCT p.annotator, p.query_id, p.document_id, r.name
FROM presentations p JOIN withdrawals w USING (presentation_id) JOIN rounds r USING (round_id)
ANTI JOIN known_answers USING (round_id, query_id, document_id)
WHERE p.duplicate_of IS NULL AND r.kind IN ('labeling', 'audit')
  AND p.annotator IN (SELECT unnest(?::TEXT[]))
ORDER BY ALL
"""
_KEYS = """
SELECT client_key, author, presentation_id, revision FROM judgment_events
WHERE author IN (SELECT unnest(?::TEXT[]))
"""
_POSITIONS = "SELECT annotator, count(*) FROM presentations WHERE round_id = ? GROUP BY annotator"


@dataclass(frozen=True)
class JudgmentImport:
    """The result of importing judgments.

    Attributes
    ----------
    round: the round of imported judgments, or None if all judgments answered open presentations.
    judgments: new judgments written; `filled` is the number that answered presentations of a labeling round.
    changed: judgments whose grade differs from the stored grade: appended as corrections.
    unchanged: judgments already stored with the same grade.
    superseded: judgments that were imported before and that the annotator has since changed on screen; the
        newer answer counts.
    sealed: judgments of pairs that a release seals and that the annotator had judged. The result does not say
        whether sealed grades match, because a file of guesses could then reveal the grades.
    unknown: names of queries and documents that were left out because the project does not have them.
    added_pairs: pairs that no pool held; their source is 'imported'.
    added_annotators: names new to the project; these annotators cannot sign in.
    unread: part of judgments that could not be read, such as their time → number of judgments affected.
    marks: ranges of characters that are evidence of new or changed judgments.
    """

    round: str | None
    judgments: int
    filled: int
    changed: int
    unchanged: int
    superseded: int
    sealed: int
    added_queries: int
    added_pairs: int
    added_annotators: list[str]
    left_out: dict[str, int]
    unknown: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    fields: JudgmentFields | None = None
    marks: int = 0

    @property
    def outcome(self) -> ImportOutcome:
        """Return the result of the import as sentences."""
        changes = bool(self.judgments or self.changed or self.sealed)
        sentence = "Nothing changed: all judgments of the file are already stored."
        if changes:
            where = f" in the round “{self.round}”" if self.round else ""
            one, several = "of them answers an open presentation", "of them answer open presentations"
            judgments = pluralize(self.judgments, "new judgment")
            sentence = f"{judgments}{where}, {pluralize(self.filled, one, several)}."
        remarks = describe_judgment_columns(self.fields, self.unread)
        if self.marks:
            remarks.append(f"The judgments have {pluralize(self.marks, 'evidence passage')}.")
        if self.sealed:
            before = pluralize(self.sealed, "judgment is of a pair", "judgments are of pairs")
            remarks.append(
                f"{before} that a release seals, so goldgrade does not report whether the grades match."
            )
        if self.added_annotators:
            names = ", ".join(self.added_annotators)
            remarks = [f"These annotators are known only from imports and cannot sign in: {names}.", *remarks]
        figures = {
            "new judgments": self.judgments,
            "corrections": self.changed,
            "unchanged": self.unchanged,
            "answered on screen since": self.superseded,
            "queries added": self.added_queries,
            "judged before, sealed": self.sealed,
            "pairs added": self.added_pairs,
        }
        return ImportOutcome(changes, sentence, "judgments", figures, self.left_out, remarks)


def import_judgments(
    store: Store,
    path: Path,
    fields: JudgmentFields | None = None,
    layout: FileLayout | None = None,
    *,
    grade_map: Mapping[str, int | None] | None = None,
    skip_unknown: bool = False,
    about: str | None = None,
    round_name: str | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> JudgmentImport:
    """Import a file's judgments in one transaction.

    Parameters
    ----------
    grade_map: the file's grade → the guide's grade, from `parse_grade_map`; None if the scales are equal.
    skip_unknown: leave out, and count, judgments of unknown documents and unknown query ids, and quotes of
        evidence that are not in the text, instead of refusing the file.
    about: 'current' or 'earlier': the text that the judgments are about where the project has shown an
        annotator a different text than the corpus has now. With None, such judgments are refused, except in a
        pass.
    round_name: import the file as a pass of this name: judgments of the same people on the same pairs in
        other rounds stay as they are, and open presentations stay open.

    Raises
    ------
    InputError: the file cannot be read, or judgments cannot be imported; the error lists all problems.
    RefusedError: the project has no corpus yet, or a round with the name exists and was not imported.
    """
    file = JudgmentFile(store, path, fields, layout, grade_map, skip_unknown, progress)
    try:
        refuse_alike_names(store, file.judgments, file.fields)
        contents = (file.judgments, file.source, file.new_queries, file.left_out, file.known_as)
        added = add_judgments(store, *contents, about, author, round_name, skip_unknown)
    except InputError as error:
        problems = [re.sub("^line", file.unit, problem) for problem in error.problems]
        raise InputError(problems, path=path, way_out=error.way_out) from error
    return replace(added, unknown=file.unknown, unread=file.unread | added.unread, fields=file.fields)


def add_judgments(
    store: Store,
    judgments: Sequence[ImportedJudgment],
    source: str,
    new_queries: Sequence[Query] = (),
    left_out: dict[str, int] | None = None,
    known_as: Mapping[str, str] = MappingProxyType({}),
    about: str | None = None,
    author: str = COMMAND_LINE,
    round_name: str | None = None,
    skip_unknown: bool = False,
) -> JudgmentImport:
    """Store imported judgments in one transaction.

    Parameters
    ----------
    source: the name of the source, usually of the file, which names the round of imported judgments.
    new_queries: queries of the judgments that the project may not hold yet.
    left_out: reason → number of lines already left out by the file reader; the import adds to these numbers.
    known_as: the source's query id → the project's query id, for queries that were recognized by their text.
    about, round_name, skip_unknown: as for `import_judgments`.

    Raises
    ------
    InputError: `about` is unknown, the name is empty, judgments may be about either text, grades are outside
        the scale, an annotator has two grades for one pair, documents are unknown, or pairs were moved from
        the annotator to a different annotator.
    RefusedError: the project has no corpus, a round of that name was not imported, or the same annotators
        kept judging during the import.
    """
    if about not in (None, *TEXTS):
        raise InputError(f"--about {about!r}: expected {' or '.join(TEXTS)}")
    if round_name is not None and not round_name.strip():
        raise InputError("--round: found an empty name; expected a name for this pass, such as second-pass")
    left_out = dict(left_out or {})
    by_key = merge_judgments(judgments, left_out)
    name = f"imported: {source}" if round_name is None else round_name.strip()
    round_id = digest("round", name)
    store_linked_texts(store, (key.document_id for key in by_key))

    def write(cursor: Cursor, plan: ImportPlan) -> None:
        _write_plan(cursor, plan, round_id, name, source)
        if known_as:
            add_other_ids(cursor, known_as)
        if plan.events:
            detail = {key: plan.counts[key] for key in COUNT_NAMES}
            added = {"added_pairs": len(plan.pairs), "added_annotators": len(plan.annotators)}
            record_event(cursor, "import judgments", {**detail, **added, "source": source}, author)

    plan = write_if_unchanged(
        store,
        fingerprint=lambda cursor: _read_fingerprint(cursor, by_key),
        read=lambda cursor: _read_inputs(cursor, by_key, round_id, None if round_name is None else name),
        plan=lambda inputs: plan_import(
            by_key, inputs, round_id, new_queries, about, skip_unknown, round_name is not None
        ),
        write=write,
        busy=BUSY,
    )
    return _build_result(plan, name, left_out)


def _read_fingerprint(cursor: Cursor, judgments: Mapping[JudgmentKey, object]) -> tuple[object, ...]:
    """Read counts of rows and the current guide, to detect changes while an import is planned."""
    names = sorted({key.annotator for key in judgments})
    counts = cursor.execute(
        """
        SELECT (SELECT count(*) FROM presentations WHERE annotator IN (SELECT unnest($names::TEXT[]))),
               (SELECT count(*) FROM judgment_events WHERE author IN (SELECT unnest($names::TEXT[]))),
               (SELECT count(*) FROM withdrawals),
               (SELECT count(*) FROM queries), (SELECT count(*) FROM candidates),
               (SELECT count(*) FROM annotators)
        """,
        {"names": names},
    ).fetchall()
    return (current_snapshot(cursor), current_guide(cursor).guide_hash, *counts[0])


def _read_inputs(
    cursor: Cursor, judgments: Mapping[JudgmentKey, ImportedJudgment], round_id: str, pass_name: str | None
) -> ImportInputs:
    annotators = sorted({key.annotator for key in judgments})
    documents = sorted({key.document_id for key in judgments})
    guide = current_guide(cursor)
    parameters = {"names": annotators, "round": round_id, "pass": pass_name is not None}
    rounds = cursor.execute("SELECT round_id, guide_hash FROM round_states").fetchall()
    round_exists = any(row[0] == round_id for row in rounds)
    if pass_name and not round_exists:
        refuse_taken_name(cursor, pass_name)
    current = sorted(snapshot_versions(cursor, current_snapshot(cursor), documents).items())
    presentations = cursor.execute(_PRESENTATIONS, parameters).fetchall()
    marked_ids = {key.document_id for key, judgment in judgments.items() if judgment.evidence is not None}
    versions = [*current, *((row[2], row[10]) for row in presentations)] if marked_ids else []
    return ImportInputs(
        guides={name: load_guide(cursor, name) for name in {guide.guide_hash, *(row[1] for row in rounds)}},
        guide=guide,
        documents=current,
        annotators=[annotator.name for annotator in list_annotators(cursor)],
        queries=cursor.execute("SELECT query_id FROM queries").fetchall(),
        pairs=cursor.execute("SELECT query_id, document_id FROM candidates").fetchall(),
        presentations=presentations,
        moved=[] if pass_name else cursor.execute(_MOVED, [annotators]).fetchall(),
        keys=cursor.execute(_KEYS, [annotators]).fetchall(),
        positions=cursor.execute(_POSITIONS, [round_id]).fetchall(),
        sealed=read_closed_access(cursor).closed,
        round_exists=round_exists,
        bodies=_read_bodies(cursor, versions, marked_ids),
        marks=read_evidence_marks(cursor, [row[3] for row in presentations if row[2] in marked_ids]),
    )


def _read_bodies(cursor: Cursor, versions: Iterable[tuple[str, str]], ids: Collection[str]) -> dict[str, str]:
    """Read the bodies of all versions of the given documents, keyed by version."""
    stored = documents_by_hash(cursor, {version for name, version in versions if name in ids})
    return {version: document.body for version, document in stored.items()}


def _write_plan(cursor: Cursor, plan: ImportPlan, round_id: str, name: str, source: str) -> None:
    if plan.presentations and not plan.round_exists:
        write_round(cursor, round_id, name, "imported", plan.guide_hash, {"source": source})
    for annotator in plan.annotators:
        add_imported_annotator(cursor, annotator)
    append_rows(cursor, "queries", plan.queries, metadata="{}")
    names = ("query_id", "document_id")
    append_rows(cursor, "candidates", plan.pairs, names)
    append_rows(cursor, "candidate_sources", plan.pairs, names, pool_id=round_id, system="imported")
    append_rows(cursor, "presentations", plan.presentations)
    append_events(cursor, plan.events, plan.marks)


def _build_result(plan: ImportPlan, name: str, left_out: dict[str, int]) -> JudgmentImport:
    counts: dict[str, Any] = {counted: plan.counts[counted] for counted in COUNT_NAMES}
    return JudgmentImport(
        round=name if plan.presentations else None,
        **counts,
        added_queries=len(plan.queries),
        added_pairs=len(plan.pairs),
        added_annotators=plan.annotators,
        left_out=left_out,
        unread={ABSENT_QUOTE: plan.absent_quotes} if plan.absent_quotes else {},
        marks=len(plan.marks),
    )
