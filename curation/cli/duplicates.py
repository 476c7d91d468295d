"""`goldgrade duplicates`: list documents that are the same text, or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.cli.program import Json, Limit, app, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.core.similarity.near_duplicates import DuplicateGroup
    from curation.splits.duplicates import DuplicateReport

IDS_SHOWN = 4


@app.command()
def duplicates(
    threshold: Annotated[
        float, typer.Option(help="Minimum similarity of two documents. It is the Jaccard of word 3-shingles.")
    ] = 0.8,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List identical and near-duplicate documents, in groups.

    Identical documents (same title and body) are shown to annotators as one item. Near-duplicates are judged
    one by one.

    \b
    Examples:
      goldgrade duplicates
      goldgrade duplicates --threshold 0.9 --limit 0
    """
    from curation.splits.duplicates import corpus_duplicates

    with progress_bar() as progress:
        report = corpus_duplicates(project_store(), threshold, progress)
    emit(as_json, report, lambda: _show_duplicates(report, report.groups[:limit], threshold))


def _show_duplicates(report: DuplicateReport, shown: Sequence[DuplicateGroup], threshold: float) -> None:
    say(
        f"{report.grouped:,} of {amount(report.documents, 'document')} are in "
        f"{amount(len(report.groups), 'group')} of near-duplicates (from {threshold:g} on; {report.method}).",
        f"In {report.identical_groups:,} of these groups all documents are identical.",
    )
    if shown:
        columns = ["documents", "they are", "weakest tie", "ids"]
        table(f"The {len(shown):,} largest", columns, [_group_row(group) for group in shown])
    left_out(report.left_out, "documents")


def _group_row(group: DuplicateGroup) -> tuple[object, ...]:
    ids = ", ".join(group.documents[:IDS_SHOWN])
    if len(group.documents) > IDS_SHOWN:
        ids += ", …"
    return len(group.documents), "identical" if group.identical else "near", group.similarity, ids
