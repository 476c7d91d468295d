"""What became of a gold set: two releases beside each other.

Queries are compared by their ids, pairs by query and document, documents by their content hashes. Grades are
compared for the queries that both releases have; those that came or went bring or take all of theirs. Grades
of a part that is sealed in either release are counted, and named only by who opens the seal (`seal`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.agreement.intervals import wilson
from curation.releases.seal import open_sealed, sealed_parts
from curation.releases.verify import Opened, opened
from curation.store import Store
from curation.store.settings import COMMAND_LINE
from curation.text import canonical_json, digest

ALPHAS = ("ordinal", "interval", "nominal")
ALONE = ("format", "documents", "queries", "grades", "left_out", "snapshot_id")
"""What the header says that has its own place in a comparison, or in none."""

Pair = tuple[str, str]


class Side(NamedTuple):
    """One of the two; `queries` and `grades` are part of the split → number."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]


class QueryRow(NamedTuple):
    """A query of one release only, with the number of its grades there."""

    query_id: str
    text: str
    part: str
    grades: int


class Reworded(NamedTuple):
    """A query whose text is another one under the same id."""

    query_id: str
    before: str
    after: str


class Move(NamedTuple):
    """A query that went from one part of the split to another."""

    query_id: str
    text: str
    before: str
    after: str


class Regrade(NamedTuple):
    """A pair whose grade is another one.

    Attributes
    ----------
    before, after: None where the pair had or has no grade.
    how_before, how_after: how the grade came about: 'adjudicated', 'majority', 'single', …
    document: 'gone', 'new' or 'changed' where the corpus explains it; else ''.
    """

    query_id: str
    text: str
    document_id: str
    part: str
    before: int | None
    after: int | None
    how_before: str | None
    how_after: str | None
    document: str


class GradeCounts(NamedTuple):
    """What became of the grades of a part's queries, as far as both releases have them.

    Attributes
    ----------
    kept, higher, lower: pairs with a grade in both.
    new, gone: pairs with a grade in one.
    sealed: pairs of these that are not named, because the part is sealed.
    """

    part: str
    kept: int
    higher: int
    lower: int
    new: int
    gone: int
    sealed: int


class DocumentRow(NamedTuple):
    """A document of the corpus; `judged` is its number of grades: in the old release, or where it is new."""

    document_id: str
    judged: int


class Documents(NamedTuple):
    """What became of the corpus: ids, those with most grades first."""

    gone: tuple[DocumentRow, ...]
    new: tuple[DocumentRow, ...]
    changed: tuple[DocumentRow, ...]
    kept: int


class Figure(NamedTuple):
    """A figure of agreement with its 95 % interval; `n` is what it rests on, `why` says why it is missing."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str | None


class FigureRow(NamedTuple):
    """A figure before and after; `counted` says what its n counts."""

    name: str
    counted: str
    before: Figure
    after: Figure


class Count(NamedTuple):
    """A number before and after."""

    what: str
    before: int
    after: int


class Setting(NamedTuple):
    """Something that the releases were made with, as text; None where there is none."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Diff:
    """Two releases compared.

    Attributes
    ----------
    same: they have the same content, whatever their names.
    regrades, pairs_new, pairs_gone: grades of queries that both have; those of sealed parts only where the
        seal was opened.
    opened: why the seal was opened; None where it was not.
    sealed: changes among sealed grades that are not named.
    how: how grades came about. left_out: what was left out of the releases. proposed: candidates by system.
    settings: rule of the consensus, guides, sampling, split, corpus and whatever else the releases say.
    """

    old: Side
    new: Side
    same: bool
    queries_in: tuple[QueryRow, ...]
    queries_out: tuple[QueryRow, ...]
    reworded: tuple[Reworded, ...]
    moves: tuple[Move, ...]
    grades: tuple[GradeCounts, ...]
    regrades: tuple[Regrade, ...]
    pairs_new: tuple[Regrade, ...]
    pairs_gone: tuple[Regrade, ...]
    opened: str | None
    sealed: int
    documents: Documents
    agreement: tuple[FigureRow, ...]
    how: tuple[Count, ...]
    left_out: tuple[Count, ...]
    proposed: tuple[Count, ...]
    settings: tuple[Setting, ...]


def diff(store: Store, old: str, new: str, reason: str | None = None, actor: str = COMMAND_LINE) -> Diff:
    """Compare two releases of a project, the older one first.

    Parameters
    ----------
    reason: open the seal, for this reason, and name the changed grades of sealed parts too.

    Raises
    ------
    InputError: the reason is empty.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: a release is not as it was frozen, or a newer goldset froze it.
    """
    before, after = opened(store, old), opened(store, new)
    if reason is not None:
        for name, other in ((old, new), (new, old)):
            open_sealed(store, name, f"compare with {other}", reason, actor)
    return compared(before, after, reason)


def compared(old: Opened, new: Opened, reason: str | None = None) -> Diff:
    """Two opened releases; with a reason, the grades of sealed parts are named."""
    before, after = _Side(old), _Side(new)
    documents = _documents(before, after)
    both = before.queries.keys() & after.queries.keys()
    changes = _changes(before, after, both)
    hidden = _sealed(before, after, both)
    named = [change for change in changes if reason is not None or change.query_id not in hidden]
    return Diff(
        old=before.side,
        new=after.side,
        same=old.row.release_id == new.row.release_id,
        queries_in=_only(after, before),
        queries_out=_only(before, after),
        reworded=_reworded(before, after, both),
        moves=_moves(before, after, both),
        grades=_counted(before, after, both, changes, hidden if reason is None else ()),
        regrades=tuple(row for row in named if row.before is not None and row.after is not None),
        pairs_new=tuple(row for row in named if row.before is None),
        pairs_gone=tuple(row for row in named if row.after is None),
        opened=reason,
        sealed=len(changes) - len(named),
        documents=documents,
        agreement=_agreement(before, after),
        how=_counts(before.how, after.how),
        left_out=_counts(before.header.get("left_out", {}), after.header.get("left_out", {})),
        proposed=_counts(before.systems, after.systems),
        settings=_settings(before, after),
    )


class _Side:
    """A release, laid out to be compared. What older releases do not have is empty."""

    def __init__(self, release: Opened) -> None:
        self.release = release
        self.header = release.header
        self.side = Side(
            release.row.name,
            release.row.release_id,
            self.header["format"],
            self.header["documents"],
            self.header["queries"],
            self.header["grades"],
        )
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {(row["query_id"], row["document_id"]): row for row in release.rows("qrels")}
        self.documents = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.how = Counter(row["how"] for row in self.qrels.values())
        self.systems = Counter(row["system"] for row in release.rows("candidates"))
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])


def _only(here: _Side, there: _Side) -> tuple[QueryRow, ...]:
    return tuple(
        QueryRow(query_id, row["text"], row["part"], here.graded[query_id])
        for query_id, row in sorted(here.queries.items())
        if query_id not in there.queries
    )


def _reworded(before: _Side, after: _Side, both: Collection[str]) -> tuple[Reworded, ...]:
    texts = ((name, before.queries[name]["text"], after.queries[name]["text"]) for name in sorted(both))
    return tuple(Reworded(name, old, new) for name, old, new in texts if old != new)


def _moves(before: _Side, after: _Side, both: Collection[str]) -> tuple[Move, ...]:
    return tuple(
        Move(name, after.queries[name]["text"], before.part(name), after.part(name))
        for name in sorted(both)
        if before.part(name) != after.part(name)
    )


def _sealed(before: _Side, after: _Side, both: Collection[str]) -> set[str]:
    """Queries that either release has sealed."""
    return {name for name in both if before.part(name) in before.sealed or after.part(name) in after.sealed}


def _changes(before: _Side, after: _Side, both: Collection[str]) -> list[Regrade]:
    """Pairs of these queries whose grade is another one, or in one release only."""
    changes = []
    for pair in sorted(before.qrels.keys() | after.qrels.keys()):
        if pair[0] not in both:
            continue
        old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
        if old.get("grade") == new.get("grade"):
            continue
        changes.append(
            Regrade(
                query_id=pair[0],
                text=after.queries[pair[0]]["text"],
                document_id=pair[1],
                part=after.part(pair[0]),
                before=old.get("grade"),
                after=new.get("grade"),
                how_before=old.get("how"),
                how_after=new.get("how"),
                document=_document(pair[1], before, after),
            )
        )
    return changes


def _document(document_id: str, before: _Side, after: _Side) -> str:
    old, new = before.documents.get(document_id), after.documents.get(document_id)
    if old == new:
        return ""
    return "gone" if new is None else "new" if old is None else "changed"


def _counted(
    before: _Side, after: _Side, both: Collection[str], changes: Iterable[Regrade], hidden: Collection[str]
) -> tuple[GradeCounts, ...]:
    found: dict[str, Counter[str]] = {part: Counter() for part in after.side.queries}
    for query_id, _ in before.qrels.keys() & after.qrels.keys():
        if query_id in both:
            found[after.part(query_id)]["kept"] += 1
    for row in changes:
        counts = found[row.part]
        counts["sealed"] += row.query_id in hidden
        if row.before is None or row.after is None:
            counts["new" if row.before is None else "gone"] += 1
        else:
            counts["higher" if row.after > row.before else "lower"] += 1
            counts["kept"] -= 1
    return tuple(
        GradeCounts(part, *(counts[name] for name in GradeCounts._fields[1:]))
        for part, counts in found.items()
    )


def _documents(before: _Side, after: _Side) -> Documents:
    old, new = before.documents, after.documents
    both = old.keys() & new.keys()
    changed = {name for name in both if old[name] != new[name]}
    return Documents(
        gone=_ordered(old.keys() - new.keys(), before.judged),
        new=_ordered(new.keys() - old.keys(), after.judged),
        changed=_ordered(changed, before.judged),
        kept=len(both) - len(changed),
    )


def _ordered(names: Iterable[str], judged: Mapping[str, int]) -> tuple[DocumentRow, ...]:
    rows = (DocumentRow(name, judged.get(name, 0)) for name in names)
    return tuple(sorted(rows, key=lambda row: (-row.judged, row.document_id)))


def _agreement(before: _Side, after: _Side) -> tuple[FigureRow, ...]:
    rows = [
        FigureRow(f"alpha, {level}", "pairs", _figure(before, level, "alpha"), _figure(after, level, "alpha"))
        for level in ALPHAS
    ]
    rows.append(
        FigureRow("equal grades", "pairs", _figure(before, "raw", "share"), _figure(after, "raw", "share"))
    )
    within = FigureRow("blind duplicates graded alike", "repeats", _within(before), _within(after))
    return (*rows, within)


def _figure(side: _Side, name: str, value: str) -> Figure:
    found = side.agreement.get("between", {}).get(name)
    if found is None:
        return Figure(None, None, None, 0, "this release does not say")
    why = found["undefined"] or ("too few pairs" if found["too_few"] else found["no_interval"])
    shown = None if found["undefined"] or found["too_few"] else found[value]
    low, high = (found["low"], found["high"]) if shown is not None else (None, None)
    return Figure(shown, low, high, found["units"], why)


def _within(side: _Side) -> Figure:
    """All annotators' blind duplicates together: their numbers are not the same people in two releases."""
    rows = [row for row in side.agreement.get("within", []) if row["identical"] is not None]
    n = sum(row["n"] for row in rows)
    if not n:
        return Figure(None, None, None, 0, "no blind duplicates")
    alike = sum(round(row["identical"] * row["n"]) for row in rows)
    low, high = wilson(alike, n)
    return Figure(alike / n, low, high, n, None)


def _counts(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(
        Count(what, before.get(what, 0), after.get(what, 0)) for what in sorted(before.keys() | after.keys())
    )


def _settings(before: _Side, after: _Side) -> tuple[Setting, ...]:
    """What differs of all that the releases were made with."""
    old, new = _made_with(before), _made_with(after)
    return tuple(
        Setting(what, old.get(what), new.get(what))
        for what in dict.fromkeys([*old, *new])
        if old.get(what) != new.get(what)
    )


def _made_with(side: _Side) -> dict[str, str]:
    release = side.release
    consensus = side.agreement.get("consensus", {})
    told: dict[str, Any] = {
        "consensus": consensus.get("settings") or {"rule": consensus.get("rule")},
        "guide": {row["title"]: row["guide_hash"] for row in release.rows("guides")},
        "sampling": _without((release.rows("sampling") or [{}])[0], "report"),
        "split": _without((release.rows("split") or [{}])[0], "certificate", "split_id"),
        "corpus": {"snapshot": digest(sorted(side.documents.items()))},
        "release": _without(side.header, *ALONE),
        "frozen with": json.loads(release.row.manifest).get("versions", {}),
        "form of the content": side.side.format,
    }
    return dict(_flat("", told))


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(path: str, value: Any) -> Iterable[tuple[str, str]]:
    """('split: seed', '1') and so on, for all that an object holds."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{path}: {name}" if path else str(name), item)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)
