"""What became of a gold set: two releases side by side.

Queries are compared by their ids, pairs by query and document, documents by their content hashes. Grades are
compared for the queries that both releases have. Queries that came or went bring or take all of their grades.
Grades of a part that is sealed in either release are counted, and named only by who opens the seal (`seal`).

Of what the releases were made with, everything that differs is shown as text. Their figures of agreement are
put side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from curation.releases.diff.agreement_figures import FigureRow, agreement_figures
from curation.releases.diff.compared_release import ComparedRelease, ReleaseSummary
from curation.releases.diff.grades import (
    UNEXPLAINED,
    GradeCounts,
    Regrade,
    grade_changes,
    grade_counts,
    sealed_queries,
)
from curation.releases.diff.queries_documents import (
    ChangedQuery,
    Documents,
    QueryRow,
    document_changes,
    moved_queries,
    queries_only_in,
    reworded_queries,
)
from curation.releases.diff.settings import BeforeAfter, setting_changes
from curation.releases.seal import open_sealed
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Store


@dataclass(frozen=True)
class Diff:
    """Two releases compared.

    Attributes
    ----------
    same: they have the same content, whatever their names.
    regrades, pairs_new, pairs_gone: grades of queries that both have; those of sealed parts only where the
        seal was opened.
    changes: what had changed → grades that differ, of queries that both have; sealed ones are counted, too.
    opened: why the seal was opened; None where it was not.
    sealed: changes among sealed grades that are not named.
    not_compared: queries whose grades a packed release lacks.
    how: how grades came about. left_out: what was left out of the releases. proposed: candidates by system.
    settings: rule of the consensus, guides, sampling, split, corpus and whatever else the releases say.
    """

    old: ReleaseSummary
    new: ReleaseSummary
    same: bool
    queries_in: tuple[QueryRow, ...]
    queries_out: tuple[QueryRow, ...]
    reworded: tuple[ChangedQuery, ...]
    moves: tuple[ChangedQuery, ...]
    grades: tuple[GradeCounts, ...]
    regrades: tuple[Regrade, ...]
    pairs_new: tuple[Regrade, ...]
    pairs_gone: tuple[Regrade, ...]
    changes: dict[str, int]
    opened: str | None
    sealed: int
    documents: Documents
    agreement: tuple[FigureRow, ...]
    how: tuple[BeforeAfter[int], ...]
    left_out: tuple[BeforeAfter[int], ...]
    proposed: tuple[BeforeAfter[int], ...]
    settings: tuple[BeforeAfter[str | None], ...]
    not_compared: int = 0


def diff(store: Store, old: str, new: str, reason: str | None = None, actor: str = COMMAND_LINE) -> Diff:
    """Compare two releases of a project, the older one first.

    Parameters
    ----------
    reason: open the seal, for this reason, and name the changed grades of sealed parts too.

    Raises
    ------
    InputError: the reason is empty.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: a release is not as it was frozen, or a newer goldgrade froze it.
    """
    before, after = load_release(store, old), load_release(store, new)
    if reason is not None:
        for release, other in ((before, new), (after, old)):
            open_sealed(store, release, f"compare with {other}", reason, actor)
    return compared(before, after, reason)


def compared(old: FrozenRelease, new: FrozenRelease, reason: str | None = None) -> Diff:
    """Two opened releases; with a reason, the grades of sealed parts are named."""
    closed = old.closed_queries | new.closed_queries
    before, after = ComparedRelease(old, closed), ComparedRelease(new, closed)
    documents = document_changes(before, after)
    both = before.queries.keys() & after.queries.keys()
    changes = grade_changes(before, after, both)
    hidden = sealed_queries(before, after, both)
    named = [change for change in changes if reason is not None or change.query_id not in hidden]
    return Diff(
        old=before.summary,
        new=after.summary,
        same=old.row.release_id == new.row.release_id,
        queries_in=queries_only_in(after, before),
        queries_out=queries_only_in(before, after),
        reworded=reworded_queries(before, after, both),
        moves=moved_queries(before, after, both),
        grades=grade_counts(before, after, both, changes, hidden if reason is None else ()),
        regrades=tuple(row for row in named if row.before is not None and row.after is not None),
        pairs_new=tuple(row for row in named if row.before is None),
        pairs_gone=tuple(row for row in named if row.after is None),
        changes=dict(sorted(Counter(regrade.change or UNEXPLAINED for regrade in changes).items())),
        opened=reason,
        sealed=len(changes) - len(named),
        not_compared=len(closed),
        documents=documents,
        agreement=agreement_figures(before, after),
        how=_counts(before.how, after.how),
        left_out=_counts(before.header.get("left_out", {}), after.header.get("left_out", {})),
        proposed=_counts(before.systems, after.systems),
        settings=setting_changes(before, after),
    )


def _counts(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[BeforeAfter[int], ...]:
    return tuple(
        BeforeAfter(what, before.get(what, 0), after.get(what, 0))
        for what in sorted(before.keys() | after.keys())
    )
