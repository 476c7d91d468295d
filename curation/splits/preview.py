"""The preview of a split: its parts and leakage groups, before the split is stored.

A preview shows the split that `make_split` would store from the same judgments, by the same code. If a group
is too large or a part would be empty, the preview still shows the groups, and explains why the split would be
refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import ShareCell, Table
from curation.core.text import describe_left_out, pluralize
from curation.splits.certificate import Certificate
from curation.splits.cuts import describe_cuts
from curation.splits.groups import LeakageGroup, count_group_sizes, find_largest_groups
from curation.splits.request import SplitRequest
from curation.splits.sealed_ties import hide_sealed_documents
from curation.splits.split import PreparedSplit, prepare_split
from curation.splits.split_report import SplitReport
from curation.splits.stored_split import read_current_parts
from curation.store import Store, get_setting

MAX_GROUPS = 8
"""Maximum number of leakage groups that a preview shows in detail."""


@dataclass(frozen=True)
class PreviewedPart:
    """One part of the split in a preview, with its counts.

    Attributes
    ----------
    asked: the fraction of the part.
    traffic: how often its queries were asked, as far as the current sample drew them; None without a sample.
    grades: number of pairs with a grade.
    added: number of queries that have no part in the current split.
    """

    part: str
    asked: float
    queries: int
    traffic: int | None
    grades: int
    added: int


@dataclass(frozen=True)
class SplitPreview:
    """The preview of a split: its report, its leakage groups, and how it differs from the current split.

    Attributes
    ----------
    report: the report of the split.
    sizes: number of queries in a group → number of such groups.
    groups: the largest groups with more than one query.
    moved: number of queries that the current split has in a different part; None if there is no split.
    refused: why the split cannot be stored; '' where it can be stored.
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
        """Say in sentences how many queries and leakage groups the split has."""
        queries = pluralize(sum(part.queries for part in self.parts), "query", "queries")
        groups = pluralize(self.certificate.groups, "leakage group")
        return [f"The preview has a split of {queries} in {groups}."]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make tables of the parts of the split, and of how many ties of each kind there are."""
        columns = ("Part", "Asked for", "Queries", "Searches", "Grades", "New")
        parts = tuple(
            (part.part, ShareCell(part.asked), part.queries, part.traffic, part.grades, part.added)
            for part in self.parts
        )
        ties = tuple(self.report.ties.items())
        return (Table("Parts", columns, parts), Table("Ties between queries", ("kind", "ties"), ties))

    @property
    def details(self) -> list[str]:
        """List the leakage groups with their ties, the cut ties, and the reason if the split cannot be
        stored."""
        untied = pluralize(self.sizes.get(1, 0), "query is", "queries are")
        lines = [
            f"{untied} no tie.",
            *describe_cuts(self.report.cut, self.report.remaining_ties, self.certificate.texts),
        ]
        for group in self.groups:
            lines += ["", f"Leakage group of {group.size}, in the part {group.part}.", *group.lines]
        lines += describe_left_out(self.report.left_out)
        return [*lines, *(["", f"The split cannot be stored: {self.refused}"] if self.refused else [])]


_PREVIEW = TypeAdapter(SplitPreview)


def preview_split(store: Store, request: SplitRequest, progress: Progress = silent) -> SplitPreview:
    """Preview the split that `make_split` would store from the current judgments.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `split.prepare_split`.
    """
    prepared = prepare_split(store, request, progress)
    with store.reading() as cursor:
        old_parts = read_current_parts(cursor)
        sql = "SELECT query_id, traffic FROM sample_queries WHERE sample_id = ?"
        traffic = dict(cursor.execute(sql, [get_setting(cursor, "sample")]).fetchall())
    graded, checked = prepared.graded, prepared.checked
    rules = prepared.request.rules
    groups = find_largest_groups(graded.inputs, rules, checked.groups, checked.edges, MAX_GROUPS)
    moved = sum(old_parts.get(query_id, part) != part for query_id, part in checked.parts.items())
    parts = [_preview_part(name, fraction, prepared, old_parts, traffic) for name, fraction in request.parts]
    preview = SplitPreview(
        report=prepared.report,
        parts=tuple(parts),
        sizes=count_group_sizes(checked.groups),
        groups=tuple(replace(group, part=checked.parts[group.group_id]) for group in groups),
        moved=moved if old_parts else None,
        refused=_explain_refusal(prepared),
    )
    return hide_sealed_documents(preview, graded.inputs.sealed)


def write_preview(preview: SplitPreview) -> bytes:
    """Write the preview of a split as JSON."""
    return _PREVIEW.dump_json(preview)


def parse_preview(written: bytes) -> SplitPreview:
    """Parse a preview from the JSON that `write_preview` wrote.

    Raises
    ------
    ValueError: the bytes are not a preview.
    """
    return _PREVIEW.validate_json(written)


def _preview_part(
    name: str, fraction: float, prepared: PreparedSplit, old_parts: dict[str, str], traffic: dict[str, int]
) -> PreviewedPart:
    members = [query_id for query_id, part in prepared.checked.parts.items() if part == name]
    part_traffic = sum(traffic.get(query_id, 0) for query_id in members)
    grades = sum(prepared.graded.grades.get(query_id, 0) for query_id in members)
    added = sum(query_id not in old_parts for query_id in members)
    return PreviewedPart(name, fraction, len(members), part_traffic if traffic else None, grades, added)


def _explain_refusal(prepared: PreparedSplit) -> str:
    """Explain why the split cannot be stored; '' if it can."""
    try:
        prepared.refuse_unfit()
    except RefusedError as error:
        return error.found
    return ""
