"""A split before it is stored: its parts, its groups with what ties them, and what would change.

A preview is what `make_split` would store of the same labels, by the same code. Where a group is too large or
a part would be empty, it shows the groups all the same and says why it would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.splits.certificate.certificate import Certificate, without_sealed
from curation.splits.leakage_groups import LeakageGroup, group_sizes, largest_groups
from curation.splits.request import NewSplit
from curation.splits.split import PreparedSplit, prepare_split
from curation.store import Cursor, Store, get_setting

GROUPS = 8
"""The largest groups that a preview shows in detail."""


@dataclass(frozen=True)
class PreviewedPart:
    """A part of the split.

    Attributes
    ----------
    asked: its fraction.
    traffic: how often its queries were asked, of those that the current sample drew; None where it drew none.
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
    sizes: queries in a group → number of such groups.
    groups: the largest of those with more than one query.
    kept: queries whose part is carried over from a release.
    moved: queries that the split in force has in another part; None where no split is in force.
    refused: why it cannot be stored; '' where it can.
    left_out: reason → number.
    """

    certificate: Certificate
    parts: tuple[PreviewedPart, ...]
    sizes: dict[int, int]
    groups: tuple[LeakageGroup, ...]
    kept: int
    moved: int | None
    refused: str
    left_out: dict[str, int]

    @property
    def split_id(self) -> str:
        return self.certificate.split_id


_FORM = TypeAdapter(SplitPreview)


def preview_split(store: Store, request: NewSplit, progress: Progress = silent) -> SplitPreview:
    """What `make_split` would store of the labels of now.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `split.prepare_split`.
    """
    found = prepare_split(store, request, progress)
    with store.reading() as cursor:
        now, traffic = parts_in_force(cursor), _traffic(cursor)
    assigned = found.checked.parts
    groups = largest_groups(
        found.graded.inputs, found.request.rules, found.checked.groups, found.edges, GROUPS
    )
    preview = SplitPreview(
        certificate=found.report.certificate,
        parts=tuple(_part(*asked, found, now, traffic) for asked in request.parts),
        sizes=group_sizes(found.checked.groups),
        groups=tuple(replace(group, part=assigned[group.group_id]) for group in groups),
        kept=found.report.kept,
        moved=sum(now.get(name, part) != part for name, part in assigned.items()) if now else None,
        refused=_refusal(found),
        left_out=found.report.left_out,
    )
    return without_sealed(preview, found.graded.inputs.sealed)


def preview_json(preview: SplitPreview) -> bytes:
    """The preview as JSON."""
    return _FORM.dump_json(preview)


def parsed_preview(written: bytes) -> SplitPreview:
    """The preview that `preview_json` wrote.

    Raises
    ------
    ValueError: it is none.
    """
    return _FORM.validate_json(written)


def parts_in_force(cursor: Cursor) -> dict[str, str]:
    """Query id → part of the split in force; nothing where there is none."""
    split_id = get_setting(cursor, "split")
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    return dict(cursor.execute(sql, [split_id]).fetchall())


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
