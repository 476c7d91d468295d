"""The import of a judge's judgments, which are stored apart from people's.

A judge, which is a model or a program, adds nothing that a release could hold: no query, no candidate, no
annotator, no round. So a judgment of a query that the project lacks is refused, or left out and counted. A
judgment belongs to the version of the document and to the guide that are current at the import. A repeated
import of the same file changes nothing. A different grade, or the same grade under a different guide, is a
new revision. Of several files, the file that was imported last counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curation.core.characters import describe_lookalike, find_lookalikes
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.evaluation.llm_judges.judge_judgments import JudgeJudgment, list_judges, read_judge_judgments
from curation.guides.guide import current_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment, merge_judgments
from curation.ingest.importers.judgments import JudgmentFile
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY
from curation.ingest.outcome import ImportOutcome, describe_judgment_columns
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.people.accounts import read_names_in_use
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import current_snapshot, snapshot_versions

_JUDGE_NAME = re.compile(r"\w[\w.:@+/-]{0,62}")
_IMPORT_COLUMNS = ("note", "submitted_at", "imported_at")
"""Columns of an imported judgment besides those of `JudgeJudgment`."""


@dataclass(frozen=True)
class JudgeImport:
    """The outcome of importing a judge's judgments.

    Attributes
    ----------
    judgments: the number of pairs that the judge had not judged in this version of the document.
    changed: the number of pairs with a new grade, or with the same grade under a different guide.
    unchanged: the number of pairs with the stored grade.
    cannot_tell: the number of the file's judgments without a grade.
    outside_pools: the number of pairs that no pool holds; people are not asked to judge these pairs.
    unread: a field that could not be read, such as the time → the number of judgments taken without the
        field.
    """

    judge: str
    judgments: int
    changed: int
    unchanged: int
    cannot_tell: int
    outside_pools: int
    left_out: dict[str, int]
    unread: dict[str, int] = field(default_factory=dict)
    fields: JudgmentFields | None = None

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the import as counts and sentences."""
        changes = bool(self.judgments or self.changed)
        sentence = f"Nothing changed: the project already has these judgments of {self.judge}."
        if changes:
            votes = "It does not count as a vote" if self.judgments == 1 else "They do not count as votes"
            sentence = f"{pluralize(self.judgments, 'new judgment')} of the judge {self.judge}. {votes}."
        figures = {"new judgments": self.judgments, "corrections": self.changed, "unchanged": self.unchanged}
        figures |= {"cannot tell": self.cannot_tell, "pairs outside pools": self.outside_pools}
        remarks = describe_judgment_columns(self.fields, self.unread)
        return ImportOutcome(changes, sentence, "judgments", figures, self.left_out, remarks)


def import_judge(
    store: Store,
    path: Path,
    judge: str,
    fields: JudgmentFields | None = None,
    layout: FileLayout | None = None,
    *,
    grade_map: Mapping[str, int | None] | None = None,
    skip_unknown: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> JudgeImport:
    """Store a judge's judgments from a file, in one transaction.

    Parameters
    ----------
    fields: the fields of people's judgments without the annotator, because all judgments are the judge's.
    grade_map, skip_unknown: as for `labeling.imported.import_judgments`.

    Raises
    ------
    InputError: the name breaks a rule, the file cannot be read, or judgments cannot be used; the error has
        all problems.
    RefusedError: a person has this name; the project has no corpus; the corpus changed during the import.
    """
    requested_fields = fields or JudgmentFields()
    _check_name_and_fields(store, judge, requested_fields)
    judge_fields = JudgmentFields(**{**vars(requested_fields), "annotator_name": judge, "evidence": ""})
    file = JudgmentFile(store, path, judge_fields, layout, grade_map, skip_unknown, progress)
    left_out = dict(file.left_out)
    try:
        judgments = _drop_unknown(file, skip_unknown, left_out)
        by_key = merge_judgments(judgments, left_out)
    except InputError as error:
        raise InputError(error.problems, path=path, way_out=error.way_out) from error
    rows = list(by_key.values())
    new, changed, outside_pools = _write_judgments(store, judge, rows, file.source, author)
    return JudgeImport(
        judge=judge,
        judgments=new,
        changed=changed,
        unchanged=len(rows) - new - changed,
        cannot_tell=sum(row.grade is None for row in rows),
        outside_pools=outside_pools,
        left_out=left_out,
        unread=file.unread,
        fields=file.fields,
    )


def _check_name_and_fields(store: Store, judge: str, fields: JudgmentFields) -> None:
    if fields.annotator or fields.annotator_name or fields.annotator_columns:
        raise InputError(
            "--judge names the judge that gave all grades of the file: leave out --annotator, --map "
            "annotator and --annotator-columns. In a wide file, --map grade names the judge's column."
        )
    with store.reading() as cursor:
        check_judge_name(cursor, judge)


def check_judge_name(cursor: Cursor, judge: str) -> None:
    """Reject a name that breaks the rule, belongs to a person, or looks like another judge's name."""
    if not _JUDGE_NAME.fullmatch(judge):
        raise InputError(f"Judge {judge!r}: expected 1-63 letters, digits and . : @ + / - _, no spaces")
    people, judges = read_names_in_use(cursor), {known.judge for known in list_judges(cursor)}
    similar = "" if judge in judges else find_lookalikes([judge], judges).get(judge, "")
    if similar:
        raise RefusedError(
            f"The judge {judge!r} differs from the known {similar!r} by "
            f"{describe_lookalike(judge, similar)}. Use {similar!r} for the same judge. A different judge "
            "needs a clearly different name."
        )
    if judge in people or find_lookalikes([judge], people):
        raise RefusedError(
            f"{judge!r} is the name of an annotator. A judge is a program, so give it a different name, "
            f"such as {judge}-judge. Import people's judgments without --judge."
        )


def _drop_unknown(file: JudgmentFile, skip_unknown: bool, left_out: dict[str, int]) -> list[ImportedJudgment]:
    """Keep the judgments of queries that are in the project; a query that only the file contains is
    unknown."""
    texts = {query.query_id: query.text for query in file.new_queries}
    judgments = [judgment for judgment in file.judgments if judgment.query_id not in texts]
    unknown_count = len(file.judgments) - len(judgments)
    if unknown_count and skip_unknown:
        left_out[UNKNOWN_QUERY] = left_out.get(UNKNOWN_QUERY, 0) + unknown_count
    elif unknown_count:
        first = {row.query_id: row.line for row in reversed(file.judgments) if row.query_id in texts}
        lines = sorted((line, texts[query_id]) for query_id, line in first.items())
        refuse_problems(
            [f"line {line}: the project has no query {text!r}" for line, text in lines],
            way_out="Importing a judge's judgments adds no queries. Import the queries first (`goldgrade "
            "import queries PATH`), or leave out these rows with --skip-unknown.",
        )
    return judgments


def _write_judgments(
    store: Store, judge: str, judgments: Sequence[ImportedJudgment], source: str, author: str
) -> tuple[int, int, int]:
    """Write a revision for each judgment that is new or differs in grade or guide from the stored one.

    Returns the numbers of new pairs, of changed pairs, and of pairs outside the pools.

    Raises
    ------
    RefusedError: a document left the corpus after the file was read.
    """
    document_ids = sorted({judgment.document_id for judgment in judgments})
    rows, new, outside_pools = [], 0, 0
    with store.transaction(appends=True) as cursor:
        guide_hash = current_guide(cursor).guide_hash
        versions = snapshot_versions(cursor, current_snapshot(cursor), document_ids)
        if not versions.keys() >= set(document_ids):
            raise RefusedError("The corpus changed during the import. Import the file again.")
        stored = {row[:3]: row for row in read_judge_judgments(cursor, judge)}
        pooled = set(cursor.execute("SELECT query_id, document_id FROM candidates").fetchall())
        for judgment in judgments:
            pair, grade = (judgment.query_id, judgment.document_id), judgment.grade
            key = (*pair, versions[judgment.document_id])
            outside_pools += pair not in pooled
            previous = stored.get(key)
            if previous and (previous.grade, previous.guide_hash) == (grade, guide_hash):
                continue
            new += previous is None
            row = JudgeJudgment(*key, previous.revision + 1 if previous else 0, grade, guide_hash)
            rows.append((*row, judgment.note, judgment.submitted_at, utc_now()))
        changed = len(rows) - new
        columns = (*JudgeJudgment._fields, *_IMPORT_COLUMNS)
        if append_rows(cursor, "judge_judgments", rows, columns, judge=judge, source=source):
            counts = {"judgments": new, "changed": changed, "unchanged": len(judgments) - len(rows)}
            record_event(cursor, "import judge", {"judge": judge, "source": source, **counts}, author)
    return new, changed, outside_pools
