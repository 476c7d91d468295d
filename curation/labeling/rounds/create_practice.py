"""The creation of practice rounds from decided pairs, or from a lead's file of pairs.

Each line of the file has a query, a document, the expected grade and an explanation. The round stores all
pairs, so that an annotator's next attempt can draw different queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.characters import find_lookalikes
from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.reports.tables import Table
from curation.core.text import MAX_NOTE_LENGTH, describe_left_out, percent
from curation.guides.guide import Guide, current_guide
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.ingest.importers.known_queries import KnownQueries, NamedBy, find_name_kind
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import parse_whole_number, to_text
from curation.labeling.requests import PracticeRequest
from curation.labeling.rounds import control_items
from curation.labeling.rounds.assignment import make_presentations, order_items
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import AnnotatorPair, ControlItem, ControlItemPool
from curation.labeling.rounds.create_round import BUSY, read_project_fingerprint
from curation.labeling.rounds.practice import draw_practice_queries
from curation.labeling.rounds.rounds import refuse_taken_name, refuse_unable_annotators, write_round
from curation.people.annotators import require_annotators, require_author
from curation.people.seal_access import LEAVES_OUT, SealAccess, unseal
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, write_if_unchanged
from curation.store.documents import current_snapshot, snapshot_versions
from curation.store.row_types import Presentation

_SEEN_PAIRS = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE annotator IN (SELECT unnest(?::TEXT[]))
"""
COLUMNS = {
    "query": ("query", "query_id", "query-id"),
    "document": ("document", "document_id", "doc_id", "corpus-id"),
    "grade": ("grade", "relevance", "score", "label"),
    "explanation": ("explanation", "reason", "why"),
}


@dataclass(frozen=True)
class OpenedPractice:
    """A new practice round, with its numbers of pairs, queries and items.

    Attributes
    ----------
    known: the number of pairs that the round stores.
    queries, per_annotator: name → number of queries, and number of items, to practise on.
    left_out: reason → number of pairs left out, or of queries missing for annotators.
    """

    round: str
    round_id: str
    guide_hash: str
    pass_mark: float
    known: int
    queries: dict[str, int]
    per_annotator: dict[str, int]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Return sentences that give the number of known pairs, the pass mark, and the pairs left out."""
        return [
            f"Practice {self.round} is open, with {self.known:,} known pairs and a pass mark of "
            f"{percent(self.pass_mark)}.",
            *describe_left_out(self.left_out),
        ]

    @property
    def tables(self) -> list[Table]:
        """Return a table of how many queries and items each annotator has."""
        rows = tuple((who, self.queries[who], count) for who, count in self.per_annotator.items())
        return [Table("Practice", ("Annotator", "Queries", "Items"), rows)]


_Plan = tuple[OpenedPractice, list[Presentation], Sequence[ControlItem]]
"""A practice round, its presentations, and the pairs that it keeps."""


class PracticeFile(NamedTuple):
    """A file of practice pairs, with the project's queries, guide and documents against which its lines are
    checked.

    columns: the file's columns as named by the lead.
    hashes: document id → version hash.
    """

    path: Path
    columns: Mapping[str, str | None]
    access: SealAccess
    queries: KnownQueries
    guide: Guide
    hashes: Mapping[str, str]

    def read(self) -> ControlItemPool:
        """Read the practice pairs of the file, by query id and document id.

        Raises
        ------
        InputError: the file cannot be read, or has invalid lines; the error lists all problems.
        """
        records = Records(self.path)
        columns = [
            records.require_column(
                f"--map {name}", self.columns.get(name), usual, f"the {name}", ids=name != "grade"
            )
            for name, usual in COLUMNS.items()
        ]
        first: dict[tuple[str, str], tuple[ControlItem, int]] = {}
        for record in records:
            texts = [to_text(record.fields.get(column or "")).strip() for column in columns]
            item, problems = self._item(find_name_kind(columns[0] or ""), *texts)
            for problem in problems:
                records.problems.add(record.line, problem)
            if item is None:
                continue
            before, line = first.setdefault(item.pair, (item, record.line))
            if before.grade != item.grade:
                records.problems.add(
                    record.line,
                    f"the pair ({item.pair[0]}, {item.pair[1]}) has the grade {item.grade} on this line and "
                    f"{before.grade} on {records.unit} {line}: keep only one of these lines",
                )
        return ControlItemPool(tuple(first[pair][0] for pair in sorted(first)), frozenset(), {})

    def _item(
        self, named_by_column: NamedBy | None, query: str, document: str, grade: str, explanation: str
    ) -> tuple[ControlItem | None, list[str]]:
        """Return a line's pair, or None with the problems in the line."""
        problems = []
        known_query = None
        try:
            known_query = self.queries.find(query, named_by_column)
            if known_query is None:
                suggestion = describe_similar_name(query, self.queries.alike)
                problems.append(f"the project has no query {query!r}{suggestion}")
            elif not self.access.can_show(known_query.query_id):
                problems.append(
                    f"a release seals the grades of the query {query!r}, and practice shows them; leave the "
                    'line out, or say why with --reason "why", which is logged'
                )
        except InputError as error:
            problems.extend(error.problems)
        if document not in self.hashes:
            suggestion = describe_similar_name(document, partial(find_lookalikes, known=self.hashes))
            problems.append(f"the corpus has no document {document!r}{suggestion}")
        numeric_grade = parse_whole_number(grade)
        if numeric_grade is None:
            problems.append(f"the grade {grade!r} is not a whole number")
        elif self.guide.describe_off_scale(numeric_grade):
            problems.append(self.guide.describe_off_scale(numeric_grade))
        if not explanation:
            problems.append("a practice pair needs an explanation of its grade")
        elif len(explanation) > MAX_NOTE_LENGTH:
            length = len(explanation)
            problems.append(f"an explanation has at most {MAX_NOTE_LENGTH:,} characters, not {length:,}")
        if problems or known_query is None or numeric_grade is None:
            return None, problems
        candidate = Candidate(known_query.query_id, document, self.hashes[document])
        return ControlItem(candidate, numeric_grade, explanation), []


def open_practice(store: Store, request: PracticeRequest, author: str = COMMAND_LINE) -> OpenedPractice:
    """Open a practice round: annotators practise on queries with known grades before all other items.

    Raises
    ------
    InputError: the numbers or the file's lines do not fit, or pairs of the file are sealed; the error lists
        all problems.
    NotFoundError: an annotator is not in the project.
    RefusedError: the name is taken, an annotator cannot sign in or has judged every pair, or there are no
        pairs.
    """
    request = request.checked()
    name, path, names = request.name, request.file, list(request.annotators)
    parameters: dict[str, Any] = {
        "annotators": names,
        "queries": request.queries,
        "pass_mark": request.pass_mark,
        "within": request.within,
        "seed": request.seed,
        "source": path.name if path else "adjudications",
    }

    access = unseal(store, f"practice in {name}", request.reason, author)
    if access.reason is not None:
        parameters["sealed"] = access.reason

    def read(cursor: Cursor) -> tuple[str, ControlItemPool | PracticeFile, set[AnnotatorPair]]:
        require_author(cursor, author, "lead")
        refuse_unable_annotators(require_annotators(cursor, names))
        refuse_taken_name(cursor, name)
        guide = current_guide(cursor)
        source: ControlItemPool | PracticeFile = control_items.read_control_items(cursor)
        if path is not None:
            hashes = snapshot_versions(cursor, current_snapshot(cursor))
            source = PracticeFile(path, request.fields, access, KnownQueries.read(cursor), guide, hashes)
        return guide.guide_hash, source, set(cursor.execute(_SEEN_PAIRS, [names]).fetchall())

    def plan(inputs: tuple[str, ControlItemPool | PracticeFile, set[AnnotatorPair]]) -> _Plan:
        guide_hash, source, seen_pairs = inputs
        pool = source.read() if isinstance(source, PracticeFile) else _leave_out_sealed(source, access)
        opened, rows = _plan_practice(name, parameters, guide_hash, pool, seen_pairs)
        store_linked_texts(store, (row.document_id for row in rows))
        return opened, rows, pool.items

    def write(cursor: Cursor, planned: _Plan) -> None:
        opened, rows, items = planned
        write_round(cursor, opened.round_id, name, "practice", opened.guide_hash, parameters)
        append_rows(cursor, "presentations", rows)
        control_items.write_control_items(cursor, opened.round_id, items)
        record_event(cursor, "open practice", {"name": name, **parameters, "known": len(items)}, author)

    opened, *_ = write_if_unchanged(
        store, fingerprint=read_project_fingerprint, read=read, plan=plan, write=write, busy=BUSY
    )
    return opened


def _plan_practice(
    name: str,
    parameters: dict[str, Any],
    guide_hash: str,
    pool: ControlItemPool,
    seen_pairs: set[AnnotatorPair],
) -> tuple[OpenedPractice, list[Presentation]]:
    if not pool.items:
        raise _no_pairs_error(pool)
    round_id = digest("round", name, guide_hash, parameters)
    rows: list[Presentation] = []
    queries: dict[str, int] = {}
    missing_queries = 0
    for annotator in parameters["annotators"]:
        candidates = [item.candidate for item in pool.items if (annotator, *item.pair) not in seen_pairs]
        work = draw_practice_queries(candidates, parameters["queries"], f"{parameters['seed']}:0")
        if not work:
            raise RefusedError(
                f"{annotator} has already judged every known pair and can skip practice: leave this person "
                "out, or give other pairs.",
                command="--file names a file of pairs.",
            )
        missing_queries += parameters["queries"] - len(work)
        queries[annotator] = len(work)
        slots = order_items(work, 0.0, f"{parameters['seed']}:{annotator}")
        rows.extend(make_presentations(round_id, annotator, slots))
    left_out = dict(pool.left_out)
    if missing_queries:
        left_out["practice queries are missing: fewer queries have known grades than requested"] = (
            missing_queries
        )
    opened = OpenedPractice(
        round=name,
        round_id=round_id,
        guide_hash=guide_hash,
        pass_mark=parameters["pass_mark"],
        known=len(pool.items),
        queries=queries,
        per_annotator=dict(Counter(row.annotator for row in rows)),
        left_out=left_out,
    )
    return opened, rows


def _leave_out_sealed(pool: ControlItemPool, access: SealAccess) -> ControlItemPool:
    """Leave out and count the pairs with sealed grades that a practice round may not show."""
    items = tuple(item for item in pool.items if access.can_show(item.candidate.query_id))
    sealed = len(pool.items) - len(items)
    left_out = pool.left_out | ({LEAVES_OUT: sealed} if sealed else {})
    return pool._replace(items=items, left_out=left_out)


def _no_pairs_error(pool: ControlItemPool) -> RefusedError:
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in pool.left_out.items())
    return RefusedError(
        f"There are no known pairs to practice on{f' ({reasons})' if reasons else ''}. Decide some pairs, or "
        "give a file with queries, documents, grades and explanations.",
        command="`goldgrade decide` decides pairs, and --file names a file of pairs.",
    )
