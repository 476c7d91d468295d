"""The operations of a split: making it, and its preview with parts, groups and what would change.

A preview is what `make_split` would store of the same labels, by the same code. Where a group is too large or
a part would be empty, it shows the groups all the same and says why the split would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from curation.core.errors import RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.reports.page import ShareCell, Table
from curation.core.text import left_out_sentences, pluralize
from curation.retrieval.embeddings import refuse_without_model
from curation.splits.certificate import Certificate, without_sealed
from curation.splits.groups import LeakageGroup, cut_lines, group_sizes, largest_groups
from curation.splits.request import SplitRequest
from curation.splits.split import PreparedSplit, SplitReport, make_split, parts_in_force, prepare_split
from curation.store import Cursor, Store, get_setting

PREVIEW = "preview.json"
"""The file in a job's folder that `splits.operations.parsed_preview` reads."""
GROUPS = 8
"""The largest groups that a preview shows in detail."""


def _check(cursor: Cursor, request: SplitRequest | None) -> None:
    if request is not None and request.rules.paraphrase is not None:
        refuse_without_model(cursor, request.rules.model)


def _preview(store: Store, request: SplitRequest, progress: Progress, author: str) -> SplitPreview:
    """Write the preview into the folder that the request names."""
    preview = preview_split(store, request, progress)
    (Path(request.folder) / PREVIEW).write_bytes(preview_json(preview))
    return preview


def _split(store: Store, request: SplitRequest, progress: Progress, author: str) -> SplitReport:
    return make_split(store, request, progress, author)


OPERATIONS = {
    "split preview": Operation(
        SplitRequest,
        _preview,
        doing="a split is being previewed",
        kept="The current split is unchanged. Preview again; the embeddings are kept.",
        check=_check,
        first="reading grades and documents",
    ),
    "split": Operation(
        SplitRequest,
        _split,
        doing="a split is being stored",
        kept="The current split is unchanged. Store it again.",
        check=_check,
        first="reading grades and documents",
        stage="split",
    ),
}


@dataclass(frozen=True)
class PreviewedPart:
    """A part of the split.

    Attributes
    ----------
    asked: its fraction.
    traffic: how often its queries were asked, of those that the current sample drew; None if it drew none.
    grades: pairs with a grade.
    added: queries that have no part in the split in force.
    """

    part: str
    asked: float
    queries: int
    traffic: int | None
    grades: int
    added: int


@dataclass(frozen=True)
class SplitPreview:
    """What a split would be.

    Attributes
    ----------
    report: what would be stored.
    sizes: queries in a group → number of such groups.
    groups: the largest of those with more than one query.
    moved: queries that the split in force has in another part; None if no split is in force.
    refused: why it cannot be stored; '' where it can.
    """

    report: SplitReport
    parts: tuple[PreviewedPart, ...]
    sizes: dict[int, int]
    groups: tuple[LeakageGroup, ...]
    moved: int | None
    refused: str

    @property
    def certificate(self) -> Certificate:
        return self.report.certificate

    @property
    def split_id(self) -> str:
        return self.report.split_id

    @property
    def sentences(self) -> list[str]:
        """How many queries in how many groups."""
        queries = pluralize(sum(part.queries for part in self.parts), "query", "queries")
        groups = pluralize(self.certificate.groups, "leakage group")
        return [f"Previewed a split of {queries} in {groups}."]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The parts, and the ties by kind."""
        columns = ("Part", "Asked for", "Queries", "Searches", "Grades", "New")
        parts = tuple(
            (part.part, ShareCell(part.asked), part.queries, part.traffic, part.grades, part.added)
            for part in self.parts
        )
        ties = tuple((kind, count) for kind, count in self.report.ties.items())
        return (Table("Parts", columns, parts), Table("Ties between queries", ("kind", "ties"), ties))

    @property
    def further(self) -> list[str]:
        """Groups with what ties them, what was cut, and why it cannot be stored."""
        alone = pluralize(self.sizes.get(1, 0), "query is", "queries are")
        lines = [
            f"{alone} tied to no other.",
            *cut_lines(self.report.cut, self.report.remaining_ties, self.certificate.texts),
        ]
        for group in self.groups:
            lines += ["", f"A group of {group.size}, in {group.part}.", *group.lines]
        lines += left_out_sentences(self.report.left_out)
        return [*lines, *(["", f"It cannot be stored: {self.refused}"] if self.refused else [])]


_FORM = TypeAdapter(SplitPreview)


def preview_split(store: Store, request: SplitRequest, progress: Progress = silent) -> SplitPreview:
    """What `make_split` would store of the labels of now.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `split.prepare_split`.
    """
    prepared = prepare_split(store, request, progress)
    with store.reading() as cursor:
        now, traffic = parts_in_force(cursor), _traffic(cursor)
    assigned = prepared.checked.parts
    groups = largest_groups(
        prepared.graded.inputs, prepared.request.rules, prepared.checked.groups, prepared.edges, GROUPS
    )
    preview = SplitPreview(
        report=prepared.report,
        parts=tuple(_part(*asked, prepared, now, traffic) for asked in request.parts),
        sizes=group_sizes(prepared.checked.groups),
        groups=tuple(replace(group, part=assigned[group.group_id]) for group in groups),
        moved=sum(now.get(name, part) != part for name, part in assigned.items()) if now else None,
        refused=_refusal(prepared),
    )
    return without_sealed(preview, prepared.graded.inputs.sealed)


def preview_json(preview: SplitPreview) -> bytes:
    """The preview as JSON."""
    return _FORM.dump_json(preview)


def parsed_preview(written: bytes) -> SplitPreview:
    """The preview that `preview_json` wrote.

    Raises
    ------
    ValueError: it is no preview.
    """
    return _FORM.validate_json(written)


def _traffic(cursor: Cursor) -> dict[str, int]:
    sample_id = get_setting(cursor, "sample")
    sql = "SELECT query_id, traffic FROM sample_queries WHERE sample_id = ?"
    return dict(cursor.execute(sql, [sample_id]).fetchall())


def _part(
    name: str, asked: float, prepared_split: PreparedSplit, now: Mapping[str, str], traffic: Mapping[str, int]
) -> PreviewedPart:
    inside = [query_id for query_id, part in prepared_split.checked.parts.items() if part == name]
    drawn = [traffic[query_id] for query_id in inside if query_id in traffic]
    grades = sum(prepared_split.graded.grades.get(query_id, 0) for query_id in inside)
    added = sum(query_id not in now for query_id in inside)
    return PreviewedPart(name, asked, len(inside), sum(drawn) if traffic else None, grades, added)


def _refusal(prepared_split: PreparedSplit) -> str:
    try:
        prepared_split.refuse_unfit()
    except RefusedError as error:
        return error.found
    return ""
