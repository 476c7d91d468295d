"""The difference between two releases: changes of queries, grades, documents, agreement and settings.

Queries are compared by their ids, pairs by query and document, documents by their content hashes. Grades are
compared for the queries that both releases have. All grades of a query that is only in one release count as
new or gone. Changed grades of a part that either release seals are counted, and listed only if somebody opens
the seal (`seal`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from curation.agreement.intra_annotator import IntraAgreement, pool_consistency
from curation.core.statistics.estimate import Estimate
from curation.people.seal_access import list_sealed_parts
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.part_rows import Rows, get_pair
from curation.releases.release_settings import Setting, compare_settings
from curation.releases.seal import open_sealed
from curation.store import COMMAND_LINE, Store

UNEXPLAINED = "more votes or different votes"
"""Name of the change for a grade that differs for no known reason."""
COUNTS = ("kept", "higher", "lower", "new", "gone", "sealed")
ALPHAS = ("ordinal", "nominal")

QueryIds = Collection[str]


class ReleaseSummary(NamedTuple):
    """One of the two compared releases. `queries` and `grades` map each part of the split to a count."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]
    mark: str | None = None


class ComparedRelease:
    """One of two compared releases, with its rows arranged for the comparison.

    closed: queries whose grades are missing in one of the releases, and are therefore left out of both.
    """

    def __init__(self, release: FrozenRelease, closed: QueryIds = ()) -> None:
        self.release = release
        self.header = release.header
        counts = {name: self.header[name] for name in ("format", "documents", "queries", "grades")}
        self.summary = ReleaseSummary(release.row.name, release.row.release_id, mark=release.mark, **counts)
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {get_pair(row): row for row in release.rows("qrels") if row["query_id"] not in closed}
        self.documents = release.versions
        self.grades_of_document = Counter(document_id for _, document_id in self.qrels)
        self.grades_of_query = Counter(query_id for query_id, _ in self.qrels)
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = list_sealed_parts(self.header)
        self.retired: dict[str, str] = self.header.get("retired", {})
        self.relabeled = {get_pair(row): (row["quarter"], row["cause"]) for row in release.rows("relabeled")}

    def part(self, query_id: str) -> str:
        """Return the part of the split to which a query belongs."""
        return str(self.queries[query_id]["part"])

    def is_sealed(self, query_id: str) -> bool:
        """Return whether the release seals the part to which a query belongs."""
        return self.part(query_id) in self.sealed


@dataclass(frozen=True)
class Diff:
    """The comparison of two releases.

    Attributes
    ----------
    same: whether the releases have the same content.
    queries_in, queries_out: query_id, text, part, grades of each query that is only in the new or the old
        release, and the reason why it was retired, or ''.
    reworded, moves: query_id, text, and the text or part of the split before and after.
    grades: part → numbers of the grades that both releases have ('kept', 'higher', 'lower') or one release
        has ('new', 'gone'), and of the 'sealed' grades among them, which have no names. Only queries of both
        releases count.
    regrades, pairs_new, pairs_gone: rows of `list_grade_changes`; rows of sealed parts only after an opening.
    changes: known change → number of grades that differ, with sealed grades.
    opened: the reason for opening the seal; None without an opening.
    sealed: number of changed sealed grades without names.
    not_compared: number of queries whose grades a packed release lacks.
    documents: 'gone', 'new' and 'changed' → document id → number of its grades, the largest number first.
    documents_kept: number of documents that did not change.
    agreement: figure → its value before and after.
    settings: setting → its value before and after, None where a release does not have the setting.
    """

    old: ReleaseSummary
    new: ReleaseSummary
    same: bool
    queries_in: Rows
    queries_out: Rows
    reworded: Rows
    moves: Rows
    grades: dict[str, dict[str, int]]
    regrades: Rows
    pairs_new: Rows
    pairs_gone: Rows
    changes: dict[str, int]
    opened: str | None
    sealed: int
    documents: dict[str, dict[str, int]]
    documents_kept: int
    agreement: dict[str, tuple[Estimate, Estimate]]
    settings: dict[str, Setting]
    not_compared: int = 0


def list_grade_changes(before: ComparedRelease, after: ComparedRelease, common: QueryIds) -> Rows:
    """List the pairs of these queries whose grade differs between the releases, or that are in only one of
    them.

    A row has query_id, text, document_id and part; the grades before and after (None without a grade) and
    their origins how_before and how_after, such as 'majority'; document, which is 'gone', 'new' or 'changed'
    where the document explains the difference; and change (`find_change`).
    """
    changes = []
    for pair in sorted(before.qrels.keys() | after.qrels.keys()):
        if pair[0] not in common:
            continue
        old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
        if old.get("grade") == new.get("grade"):
            continue
        changes.append(
            {
                "query_id": pair[0],
                "text": after.queries[pair[0]]["text"],
                "document_id": pair[1],
                "part": after.part(pair[0]),
                "before": old.get("grade"),
                "after": new.get("grade"),
                "how_before": old.get("how"),
                "how_after": new.get("how"),
                "document": _find_document_change(pair[1], before, after),
                "change": find_change(pair, before, after),
            }
        )
    return changes


def find_change(pair: tuple[str, str], before: ComparedRelease, after: ComparedRelease) -> str:
    """Return the known reasons why a pair's grade differs between the two releases.

    The change need not be the reason for the other grade.

    For a pair that was judged again between the releases, return the change of the re-labeling, such as
    're-labeled: guide changed'. Otherwise return the change of the document, 'decided' for a new decision by
    a reviewer, or ''.
    """
    relabeling = after.relabeled.get(pair)
    if relabeling is not None and relabeling != before.relabeled.get(pair):
        return f"re-labeled: {relabeling[1]}"
    document = _find_document_change(pair[1], before, after)
    if document:
        return f"document {document}"
    old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
    return "decided" if new.get("how") == "adjudicated" != old.get("how") else ""


def count_grade_changes(
    before: ComparedRelease, after: ComparedRelease, common: QueryIds, changes: Rows, hidden: QueryIds
) -> dict[str, dict[str, int]]:
    """Count the kept, changed, new and removed grades in each part of the split.

    `common` are the queries of both releases, and `hidden` the queries with sealed grades.
    """
    part_counts = {part: dict.fromkeys(COUNTS, 0) for part in after.summary.queries}
    for query_id, _ in before.qrels.keys() & after.qrels.keys():
        if query_id in common:
            part_counts[after.part(query_id)]["kept"] += 1
    for row in changes:
        counts = part_counts[row["part"]]
        counts["sealed"] += row["query_id"] in hidden
        if row["before"] is None or row["after"] is None:
            counts["new" if row["before"] is None else "gone"] += 1
        else:
            counts["higher" if row["after"] > row["before"] else "lower"] += 1
            counts["kept"] -= 1
    return part_counts


def compare_figures(before: ComparedRelease, after: ComparedRelease) -> dict[str, tuple[Estimate, Estimate]]:
    """Return both releases' agreement figures: alpha, the share of equal grades, and consistency on blind
    duplicates."""
    figures = {f"alpha, {level}": (level, "alpha") for level in ALPHAS} | {"equal grades": ("raw", "share")}
    between = {
        f"{name} (pairs)": (_read_figure(before, *figure), _read_figure(after, *figure))
        for name, figure in figures.items()
    }
    duplicates = (_pool_duplicates(before), _pool_duplicates(after))
    return between | {"blind duplicates with the same grade (repeats)": duplicates}


def compare_releases(
    store: Store, old: str, new: str, reason: str | None = None, actor: str = COMMAND_LINE
) -> Diff:
    """Compare two releases of a project, the older one first.

    Parameters
    ----------
    reason: the reason for opening the seal; with a reason, changed grades of sealed parts are listed, too.

    Raises
    ------
    InputError: the reason is empty.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: a release was altered, or a newer goldgrade froze it.
    """
    before, after = load_release(store, old), load_release(store, new)
    if reason is not None:
        for release, other in ((before, new), (after, old)):
            open_sealed(store, release, f"compare with {other}", reason, actor)
    return compare(before, after, reason)


def compare(old: FrozenRelease, new: FrozenRelease, reason: str | None = None) -> Diff:
    """Compare two releases that are already in memory.

    With a reason, changed grades of sealed parts are listed, too.
    """
    closed = old.closed_queries | new.closed_queries
    before, after = ComparedRelease(old, closed), ComparedRelease(new, closed)
    common = before.queries.keys() & after.queries.keys()
    changes = list_grade_changes(before, after, common)
    hidden = {query_id for query_id in common if before.is_sealed(query_id) or after.is_sealed(query_id)}
    visible = [change for change in changes if reason is not None or change["query_id"] not in hidden]
    return Diff(
        old=before.summary,
        new=after.summary,
        same=old.row.release_id == new.row.release_id,
        queries_in=_list_unshared(after, before),
        queries_out=_list_unshared(before, after),
        reworded=_list_edits(before, after, common, "text"),
        moves=_list_edits(before, after, common, "part"),
        grades=count_grade_changes(before, after, common, changes, hidden if reason is None else ()),
        regrades=[row for row in visible if row["before"] is not None and row["after"] is not None],
        pairs_new=[row for row in visible if row["before"] is None],
        pairs_gone=[row for row in visible if row["after"] is None],
        changes=dict(sorted(Counter(row["change"] or UNEXPLAINED for row in changes).items())),
        opened=reason,
        sealed=len(changes) - len(visible),
        not_compared=len(closed),
        documents=_group_documents(before, after),
        documents_kept=len(before.documents.items() & after.documents.items()),
        agreement=compare_figures(before, after),
        settings=compare_settings(old, new, closed),
    )


def _find_document_change(document_id: str, before: ComparedRelease, after: ComparedRelease) -> str:
    old, new = before.documents.get(document_id), after.documents.get(document_id)
    if old == new:
        return ""
    if new is None:
        return "gone"
    return "new" if old is None else "changed"


def _read_figure(release: ComparedRelease, name: str, value: str) -> Estimate:
    figure = release.agreement.get("between", {}).get(name)
    if figure is None:
        return Estimate(why="the release does not have this figure")
    why = figure["undefined"] or ("too few pairs" if figure["too_few"] else figure["no_interval"])
    if figure["undefined"] or figure["too_few"]:
        return Estimate(n=figure["units"], why=why)
    return Estimate(figure[value], figure["low"], figure["high"], figure["units"], why)


def _pool_duplicates(release: ComparedRelease) -> Estimate:
    """Add up all annotators' blind duplicates, because annotators' pseudonyms differ between releases."""
    pooled = pool_consistency([IntraAgreement(**row) for row in release.agreement.get("within", [])])
    if not pooled.n:
        return Estimate(why="no blind duplicates")
    return Estimate(pooled.identical, pooled.low, pooled.high, pooled.n)


def _list_unshared(release: ComparedRelease, other_release: ComparedRelease) -> Rows:
    """List the queries of a release that the other release does not have."""
    return [
        {name: row[name] for name in ("query_id", "text", "part")}
        | {"grades": release.grades_of_query[query_id], "reason": other_release.retired.get(query_id, "")}
        for query_id, row in sorted(release.queries.items())
        if query_id not in other_release.queries
    ]


def _list_edits(before: ComparedRelease, after: ComparedRelease, common: QueryIds, field: str) -> Rows:
    """List the queries in both releases whose value of a field, such as text or part, differs."""
    rows = ((before.queries[query_id][field], after.queries[query_id]) for query_id in sorted(common))
    return [
        {"query_id": row["query_id"], "text": row["text"], "before": old, "after": row[field]}
        for old, row in rows
        if old != row[field]
    ]


def _group_documents(before: ComparedRelease, after: ComparedRelease) -> dict[str, dict[str, int]]:
    """Return the removed, new and changed documents, each with the number of its grades."""
    old, new = before.documents, after.documents
    changed = {document_id for document_id in old.keys() & new.keys() if old[document_id] != new[document_id]}
    return {
        "gone": _map_grade_counts(old.keys() - new.keys(), before.grades_of_document),
        "new": _map_grade_counts(new.keys() - old.keys(), after.grades_of_document),
        "changed": _map_grade_counts(changed, before.grades_of_document),
    }


def _map_grade_counts(document_ids: Iterable[str], n_grades: Counter[str]) -> dict[str, int]:
    """Map each document id to its number of grades, the largest number first."""
    most_grades_first = sorted(document_ids, key=lambda document_id: (-n_grades[document_id], document_id))
    return {document_id: n_grades[document_id] for document_id in most_grades_first}
