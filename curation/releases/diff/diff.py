"""What became of a gold set: two releases side by side.

Queries are compared by their ids, pairs by query and document, documents by their content hashes. Grades are
compared for the queries that both releases have. Queries that came or went bring or take all of their grades.
Grades of a part that is sealed in either release are counted, and named only by who opens the seal (`seal`).

Of what the releases were made with, everything that differs is shown as text. Their figures of agreement are
put side by side.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.agreement.annotators.intra_annotator import IntraAgreement, pooled_consistency
from curation.door import sealed_parts
from curation.releases.coverage import released_coverage
from curation.releases.seal import open_sealed
from curation.releases.verify import Opened, opened
from curation.store import COMMAND_LINE, Store
from curation.text import canonical_json, digest

UNEXPLAINED = "more or other votes"
"""What is said of a grade that differs though nothing else is known to have changed."""

ALPHAS = ("ordinal", "interval", "nominal")


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

    def __init__(self, release: Opened, closed: Collection[str] = ()) -> None:
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
        self.documents = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.how = Counter(row["how"] for row in self.qrels.values())
        self.systems = Counter(
            row["system"] for row in release.rows("candidates") if row["query_id"] not in closed
        )
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)
        self.retired: dict[str, str] = self.header.get("retired", {})
        self.relabeled = {
            (row["query_id"], row["document_id"]): (row["quarter"], row["cause"])
            for row in release.rows("relabeled")
        }

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])


class QueryRow(NamedTuple):
    """A query of one release only, with the number of its grades there, and why it was retired; '' if not."""

    query_id: str
    text: str
    part: str
    grades: int
    reason: str = ""


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


def queries_only_in(here: ComparedRelease, there: ComparedRelease) -> tuple[QueryRow, ...]:
    """Queries of this release that the other does not have."""
    return tuple(
        QueryRow(query_id, row["text"], row["part"], here.graded[query_id], there.retired.get(query_id, ""))
        for query_id, row in sorted(here.queries.items())
        if query_id not in there.queries
    )


def reworded_queries(
    before: ComparedRelease, after: ComparedRelease, both: Collection[str]
) -> tuple[Reworded, ...]:
    """Queries of both whose text differs."""
    texts = ((name, before.queries[name]["text"], after.queries[name]["text"]) for name in sorted(both))
    return tuple(Reworded(name, old, new) for name, old, new in texts if old != new)


def moved_queries(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> tuple[Move, ...]:
    """Queries of both whose part differs."""
    return tuple(
        Move(name, after.queries[name]["text"], before.part(name), after.part(name))
        for name in sorted(both)
        if before.part(name) != after.part(name)
    )


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


def document_changes(before: ComparedRelease, after: ComparedRelease) -> Documents:
    """Documents that came, went, or have another version."""
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


class Regrade(NamedTuple):
    """A pair whose grade is another one.

    Attributes
    ----------
    before, after: None where the pair had or has no grade.
    how_before, how_after: how the grade came about: 'adjudicated', 'majority', 'single', …
    document: 'gone', 'new' or 'changed' where the corpus explains it; else ''.
    cause: see `cause_of`.
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
    cause: str = ""


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


def sealed_queries(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> set[str]:
    """Queries that either release has sealed."""
    return {name for name in both if before.part(name) in before.sealed or after.part(name) in after.sealed}


def grade_changes(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> list[Regrade]:
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
                cause=cause_of(pair, before, after),
            )
        )
    return changes


def cause_of(pair: tuple[str, str], before: ComparedRelease, after: ComparedRelease) -> str:
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
    changes: Iterable[Regrade],
    hidden: Collection[str],
) -> tuple[GradeCounts, ...]:
    """What became of the grades, by part; `hidden`: queries whose grades are not named."""
    found: dict[str, Counter[str]] = {part: Counter() for part in after.summary.queries}
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


class ComparedFigure(NamedTuple):
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
    before: ComparedFigure
    after: ComparedFigure


def agreement_figures(before: ComparedRelease, after: ComparedRelease) -> tuple[FigureRow, ...]:
    """Alpha at each level, equal grades, and blind duplicates."""
    rows = [
        FigureRow(f"alpha, {level}", "pairs", _figure(before, level, "alpha"), _figure(after, level, "alpha"))
        for level in ALPHAS
    ]
    rows.append(
        FigureRow("equal grades", "pairs", _figure(before, "raw", "share"), _figure(after, "raw", "share"))
    )
    repeats = [_blind_duplicates(release) for release in (before, after)]
    return (*rows, FigureRow("blind duplicates graded alike", "repeats", *repeats))


def _figure(side: ComparedRelease, name: str, value: str) -> ComparedFigure:
    found = side.agreement.get("between", {}).get(name)
    if found is None:
        return ComparedFigure(None, None, None, 0, "this release does not say")
    why = found["undefined"] or ("too few pairs" if found["too_few"] else found["no_interval"])
    shown = None if found["undefined"] or found["too_few"] else found[value]
    low, high = (found["low"], found["high"]) if shown is not None else (None, None)
    return ComparedFigure(shown, low, high, found["units"], why)


def _blind_duplicates(side: ComparedRelease) -> ComparedFigure:
    """All annotators' blind duplicates together: their numbers are not the same people in two releases."""
    found = pooled_consistency([IntraAgreement(**row) for row in side.agreement.get("within", [])])
    if not found.n:
        return ComparedFigure(None, None, None, 0, "no blind duplicates")
    return ComparedFigure(found.identical, found.low, found.high, found.n, None)


ELSEWHERE = ("format", "documents", "queries", "grades", "left_out", "snapshot_id", "relabeled", "retired")
"""What the header has and the comparison shows elsewhere, or not at all."""


VERSIONS = "frozen with"


class Setting(NamedTuple):
    """Something that the releases were made with, as text; None where there is none."""

    what: str
    before: str | None
    after: str | None


def setting_changes(before: ComparedRelease, after: ComparedRelease) -> tuple[Setting, ...]:
    """What differs of all that the releases were made with."""
    old, new = _made_with(before), _made_with(after)
    if before.release.file or after.release.file:  # a file says nothing of this
        old, new = ({k: v for k, v in one.items() if not k.startswith(VERSIONS)} for one in (old, new))
    return tuple(
        Setting(what, old.get(what), new.get(what))
        for what in dict.fromkeys([*old, *new])
        if old.get(what) != new.get(what)
    )


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


def _answers(release: Opened) -> dict[str, object]:
    """How many queries have reference answers, and a hash of these; nothing where none has."""
    rows = release.rows("answers")
    return {"queries": len(rows), "content": digest(rows)} if rows else {}


def _evidence(side: ComparedRelease) -> dict[str, object]:
    """How many pairs have evidence, and a hash of it; nothing where none has."""
    named = (((row["query_id"], row["document_id"]), row) for row in side.release.walk("evidence"))
    rows = [(pair, row) for pair, row in named if pair in side.qrels]
    pairs = {pair for pair, _ in rows}
    return {"pairs": len(pairs), "ranges": len(rows), "content": digest(rows)} if rows else {}


def _coverage(release: Opened) -> dict[str, object]:
    """The map, how many of its regions have a query, and the boundaries; nothing where there is no map."""
    found = released_coverage(release)
    if found is None:
        return {}
    cuts = {
        name: cut and cut._asdict()
        for name, cut in (("dispersion", found.dispersion), ("alignment", found.alignment))
    }
    asked = f"{found.regions_asked} of {found.regions}"
    return {"map": found.map_id, "resolution": found.resolution, "regions with a query": asked, **cuts}


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """('split: seed', '1') and so on, for all that an object holds."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{path}: {name}" if path else str(name), item)
    elif value is not None:
        yield path, value if isinstance(value, str) else canonical_json(value)


class Count(NamedTuple):
    """A number before and after."""

    what: str
    before: int
    after: int


@dataclass(frozen=True)
class Diff:
    """Two releases compared.

    Attributes
    ----------
    same: they have the same content, whatever their names.
    regrades, pairs_new, pairs_gone: grades of queries that both have; those of sealed parts only where the
        seal was opened.
    causes: cause → changes among the grades of queries that both have; sealed ones are counted as well.
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
    reworded: tuple[Reworded, ...]
    moves: tuple[Move, ...]
    grades: tuple[GradeCounts, ...]
    regrades: tuple[Regrade, ...]
    pairs_new: tuple[Regrade, ...]
    pairs_gone: tuple[Regrade, ...]
    causes: dict[str, int]
    opened: str | None
    sealed: int
    documents: Documents
    agreement: tuple[FigureRow, ...]
    how: tuple[Count, ...]
    left_out: tuple[Count, ...]
    proposed: tuple[Count, ...]
    settings: tuple[Setting, ...]
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
    RefusedError: a release is not as it was frozen, or a newer goldset froze it.
    """
    before, after = opened(store, old), opened(store, new)
    if reason is not None:
        for release, other in ((before, new), (after, old)):
            open_sealed(store, release, f"compare with {other}", reason, actor)
    return compared(before, after, reason)


def compared(old: Opened, new: Opened, reason: str | None = None) -> Diff:
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
        causes=dict(sorted(Counter(change.cause or UNEXPLAINED for change in changes).items())),
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


def _counts(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(
        Count(what, before.get(what, 0), after.get(what, 0)) for what in sorted(before.keys() | after.keys())
    )
