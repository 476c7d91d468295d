"""What became of a gold set: two releases side by side, with their queries, grades, documents and settings.

Queries are compared by their ids, pairs by query and document, documents by their content hashes. Grades are
compared for the queries that both releases have. Queries that came or went bring or take all of their grades.
Grades of a split that is sealed in either release are counted, and named only by who opens the seal (`seal`).

Everything that differs in how the releases were made is shown as text. Their figures of agreement are put
side by side.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.agreement.intra_annotator import IntraAgreement, pooled_consistency
from curation.core.digests import canonical_json, digest
from curation.core.statistics.estimate import Estimate
from curation.people.seal_access import sealed_parts
from curation.releases.coverage import released_coverage
from curation.releases.seal import open_sealed
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Store

UNEXPLAINED = "more or other votes"
"""The reason shown for a grade that differs though nothing else is known to have changed."""
COUNTS = ("kept", "higher", "lower", "new", "gone", "sealed")
ALPHAS = ("ordinal", "nominal")

Rows = list[dict[str, Any]]
ELSEWHERE = ("format", "documents", "queries", "grades", "left_out", "snapshot_id", "relabeled", "retired")
"""What the header has and the comparison shows elsewhere, or not at all."""
VERSIONS = "frozen with"


class ReleaseSummary(NamedTuple):
    """One of the two; `queries` and `grades` are part of the split → number; `mark` is its mark, if any."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]
    mark: str | None = None


class ComparedRelease:
    """A release, laid out to be compared.

    closed: queries whose grades one of the two does not have; they are left out of both.
    """

    def __init__(self, release: FrozenRelease, closed: Collection[str] = ()) -> None:
        self.release = release
        self.header = release.header
        self.summary = ReleaseSummary(
            release.row.name,
            release.row.release_id,
            self.header["format"],
            self.header["documents"],
            self.header["queries"],
            self.header["grades"],
            release.mark,
        )
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {
            (row["query_id"], row["document_id"]): row
            for row in release.rows("qrels")
            if row["query_id"] not in closed
        }
        self.documents = release.versions
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)
        self.retired: dict[str, str] = self.header.get("retired", {})
        self.relabeled = {
            (row["query_id"], row["document_id"]): (row["quarter"], row["cause"])
            for row in release.rows("relabeled")
        }

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])


def sealed_queries(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> set[str]:
    """Queries that either release has sealed."""
    return {name for name in both if before.part(name) in before.sealed or after.part(name) in after.sealed}


def grade_changes(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> Rows:
    """Pairs of these queries whose grade is another one, or in one release only: query_id, text, document_id,
    part; before, after (None if there is no grade), how_before, how_after (how each came about, such as
    'majority'); document ('gone', 'new' or 'changed' where the corpus explains it); change (`change_of`)."""
    changes = []
    for pair in sorted(before.qrels.keys() | after.qrels.keys()):
        if pair[0] not in both:
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
                "document": _document(pair[1], before, after),
                "change": change_of(pair, before, after),
            }
        )
    return changes


def change_of(pair: tuple[str, str], before: ComparedRelease, after: ComparedRelease) -> str:
    """What had changed for a grade that differs, as far as the releases know; it need not be the reason.

    Where the pair was judged again between them, what was not the same, as in 're-labeled: guide changed'.
    Else what became of the document; 'decided' where the reviewer's decision is new; else ''.
    """
    again = after.relabeled.get(pair)
    if again is not None and again != before.relabeled.get(pair):
        return f"re-labeled: {again[1]}"
    document = _document(pair[1], before, after)
    if document:
        return f"document {document}"
    old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
    return "decided" if new.get("how") == "adjudicated" != old.get("how") else ""


def _document(document_id: str, before: ComparedRelease, after: ComparedRelease) -> str:
    old, new = before.documents.get(document_id), after.documents.get(document_id)
    if old == new:
        return ""
    return "gone" if new is None else "new" if old is None else "changed"


def grade_counts(
    before: ComparedRelease,
    after: ComparedRelease,
    both: Collection[str],
    changes: Rows,
    hidden: Collection[str],
) -> dict[str, dict[str, int]]:
    """What became of the grades, by part; `hidden`: queries whose grades are not named."""
    counts_of = {part: dict.fromkeys(COUNTS, 0) for part in after.summary.queries}
    for query_id, _ in before.qrels.keys() & after.qrels.keys():
        if query_id in both:
            counts_of[after.part(query_id)]["kept"] += 1
    for row in changes:
        counts = counts_of[row["part"]]
        counts["sealed"] += row["query_id"] in hidden
        if row["before"] is None or row["after"] is None:
            counts["new" if row["before"] is None else "gone"] += 1
        else:
            counts["higher" if row["after"] > row["before"] else "lower"] += 1
            counts["kept"] -= 1
    return counts_of


def agreement_figures(
    before: ComparedRelease, after: ComparedRelease
) -> dict[str, tuple[Estimate, Estimate]]:
    """Figure → what it was and is: alpha at each level, equal grades, and blind duplicates."""
    figures = {f"alpha, {level}": (level, "alpha") for level in ALPHAS} | {"equal grades": ("raw", "share")}
    between = {
        f"{name} (pairs)": (_between(before, *figure), _between(after, *figure))
        for name, figure in figures.items()
    }
    duplicates = (_blind_duplicates(before), _blind_duplicates(after))
    return between | {"blind duplicates graded alike (repeats)": duplicates}


def _between(release: ComparedRelease, name: str, value: str) -> Estimate:
    figure = release.agreement.get("between", {}).get(name)
    if figure is None:
        return Estimate(why="this release does not say")
    why = figure["undefined"] or ("too few pairs" if figure["too_few"] else figure["no_interval"])
    if figure["undefined"] or figure["too_few"]:
        return Estimate(n=figure["units"], why=why)
    return Estimate(figure[value], figure["low"], figure["high"], figure["units"], why)


def _blind_duplicates(release: ComparedRelease) -> Estimate:
    """All annotators' blind duplicates together: their numbers are not the same people in two releases."""
    pooled = pooled_consistency([IntraAgreement(**row) for row in release.agreement.get("within", [])])
    if not pooled.n:
        return Estimate(why="no blind duplicates")
    return Estimate(pooled.identical, pooled.low, pooled.high, pooled.n)


@dataclass(frozen=True)
class Diff:
    """Two releases compared.

    Attributes
    ----------
    same: they have the same content, whatever their names.
    queries_in, queries_out: query_id, text, part, grades there, and the reason why it was retired; '' if not.
    reworded, moves: query_id, text, before and after: its text, its part of the split.
    grades: part → 'kept', 'higher', 'lower' (a grade in both), 'new', 'gone' (in one), and how many of these
        are 'sealed': they are not named. Only queries that both releases have are compared.
    regrades, pairs_new, pairs_gone: rows of `grade_changes`; rows of sealed parts only where the seal was
        opened.
    changes: what had changed → grades that differ, sealed grades included.
    opened: why the seal was opened; None if it was not.
    sealed: changes among sealed grades that are not named.
    not_compared: queries whose grades a packed release lacks.
    documents: 'gone', 'new' and 'changed' → document id → its grades, most first: in the old release, if
        it is there. documents_kept: number of the others.
    settings: rule of the consensus, guides, sampling, split, corpus and whatever else differs of what the
        releases say → the old and the new value, None without one.
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
    settings: dict[str, tuple[str | None, str | None]]
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
    both = before.queries.keys() & after.queries.keys()
    changes = grade_changes(before, after, both)
    hidden = sealed_queries(before, after, both)
    named = [change for change in changes if reason is not None or change["query_id"] not in hidden]
    return Diff(
        old=before.summary,
        new=after.summary,
        same=old.row.release_id == new.row.release_id,
        queries_in=_queries_only_in(after, before),
        queries_out=_queries_only_in(before, after),
        reworded=_changed_queries(before, after, both, "text"),
        moves=_changed_queries(before, after, both, "part"),
        grades=grade_counts(before, after, both, changes, hidden if reason is None else ()),
        regrades=[row for row in named if row["before"] is not None and row["after"] is not None],
        pairs_new=[row for row in named if row["before"] is None],
        pairs_gone=[row for row in named if row["after"] is None],
        changes=dict(sorted(Counter(row["change"] or UNEXPLAINED for row in changes).items())),
        opened=reason,
        sealed=len(changes) - len(named),
        not_compared=len(closed),
        documents=_document_changes(before, after),
        documents_kept=len(before.documents.items() & after.documents.items()),
        agreement=agreement_figures(before, after),
        settings=_setting_changes(before, after),
    )


def _queries_only_in(here: ComparedRelease, there: ComparedRelease) -> Rows:
    """Queries of this release that the other does not have."""
    return [
        {
            **{name: row[name] for name in ("query_id", "text", "part")},
            "grades": here.graded[query_id],
            "reason": there.retired.get(query_id, ""),
        }
        for query_id, row in sorted(here.queries.items())
        if query_id not in there.queries
    ]


def _changed_queries(
    before: ComparedRelease, after: ComparedRelease, both: Collection[str], field: str
) -> Rows:
    """Queries of both releases that have another text, or another part."""
    rows = ((before.queries[name][field], after.queries[name]) for name in sorted(both))
    return [
        {"query_id": row["query_id"], "text": row["text"], "before": old, "after": row[field]}
        for old, row in rows
        if old != row[field]
    ]


def _document_changes(before: ComparedRelease, after: ComparedRelease) -> dict[str, dict[str, int]]:
    """Documents that went, came, or have another version."""
    old, new = before.documents, after.documents
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    return {
        "gone": _ordered(old.keys() - new.keys(), before.judged),
        "new": _ordered(new.keys() - old.keys(), after.judged),
        "changed": _ordered(changed, before.judged),
    }


def _ordered(names: Iterable[str], judged: Mapping[str, int]) -> dict[str, int]:
    return {
        name: judged.get(name, 0) for name in sorted(names, key=lambda name: (-judged.get(name, 0), name))
    }


def _setting_changes(
    before: ComparedRelease, after: ComparedRelease
) -> dict[str, tuple[str | None, str | None]]:
    """What differs of all that the releases were made with."""
    old, new = _made_with(before), _made_with(after)
    if before.release.file or after.release.file:  # a file says nothing of this
        old, new = (
            {k: v for k, v in settings.items() if not k.startswith(VERSIONS)} for settings in (old, new)
        )
    return {
        what: (old.get(what), new.get(what))
        for what in dict.fromkeys([*old, *new])
        if old.get(what) != new.get(what)
    }


def _made_with(side: ComparedRelease) -> dict[str, str]:
    release = side.release
    consensus = side.agreement.get("consensus", {})
    values: dict[str, Any] = {
        "consensus": consensus.get("settings") or {"rule": consensus.get("rule")},
        "guide": {row["title"]: row["guide_hash"] for row in release.rows("guides")},
        "sampling": _without((release.rows("sampling") or [{}])[0], "report"),
        "split": _without((release.rows("split") or [{}])[0], "certificate", "split_id"),
        "reference answers": _answers(release),
        "evidence": _evidence(side),
        "coverage": _coverage(release),
        "corpus": {"snapshot": digest(sorted(side.documents.items()))},
        "release": _without(side.header, *ELSEWHERE),
        VERSIONS: json.loads(release.row.manifest).get("versions", {}),
        "form of the content": side.summary.format,
    }
    return dict(_flat("", values))


def _answers(release: FrozenRelease) -> dict[str, object]:
    """How many queries have reference answers, and a hash of these; nothing where none has."""
    rows = release.rows("answers")
    return {"queries": len(rows), "content": digest(rows)} if rows else {}


def _evidence(side: ComparedRelease) -> dict[str, object]:
    """How many pairs have evidence, and a hash of it; nothing where none has."""
    named = (((row["query_id"], row["document_id"]), row) for row in side.release.walk("evidence"))
    rows = [(pair, row) for pair, row in named if pair in side.qrels]
    pairs = {pair for pair, _ in rows}
    return {"pairs": len(pairs), "ranges": len(rows), "content": digest(rows)} if rows else {}


def _coverage(release: FrozenRelease) -> dict[str, object]:
    """The map, how many of its regions have a query, and the boundaries; nothing where there is no map."""
    coverage = released_coverage(release)
    if coverage is None:
        return {}
    cuts = {
        name: cut and cut._asdict()
        for name, cut in (("dispersion", coverage.dispersion), ("alignment", coverage.alignment))
    }
    asked = f"{coverage.regions_asked} of {coverage.regions}"
    return {"map": coverage.map_id, "resolution": coverage.resolution, "regions with a query": asked, **cuts}


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """('split: seed', '1') and so on, for all that an object holds."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{path}: {name}" if path else str(name), item)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)
