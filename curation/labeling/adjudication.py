"""Adjudication: the pairs on which annotators disagree, and the reviewer's decisions on them.

A reviewer sees the grades and notes of a pair but never who gave them. A decision is appended with the next
revision, the latest counts, and it stands whatever is judged later. Who decides on a screen names the
revision that they saw: of two reviewers at one pair the second learns what the first decided, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pyarrow as pa

from curation.agreement.consensus import (
    PairConsensus,
    consensus,
    dispute_weight,
    read_votes,
    settled,
)
from curation.errors import InputError, NotFoundError, RefusedError
from curation.labeling.annotators import require_author
from curation.labeling.guides import Guide, current_guide
from curation.labeling.judgments import LONGEST_NOTE
from curation.labeling.opinions import awaited
from curation.sources.decisions import Proposal
from curation.sources.numbers import whole_number
from curation.sources.queries import KnownQueries
from curation.store import Cursor, Store, append_rows, fetch, record_event, utc_now
from curation.store.settings import COMMAND_LINE
from curation.text import digest

Pair = tuple[str, str]

REVIEWERS = ("reviewer", "lead")

UNJUDGED = "nobody has judged the pair"
UNDISPUTED = "not disputed"
DECIDED = "decided already"
NO_GRADE = "no grade in the file"
REPEATED = "the same decision again"

_TYPES = pa.schema(
    {
        "query_id": pa.string(),
        "document_id": pa.string(),
        "revision": pa.int32(),
        "grade": pa.int32(),
        "reason": pa.string(),
        "reviewer": pa.string(),
        "decided_at": pa.timestamp("us"),
    }
)


class Opinion(NamedTuple):
    """What one annotator said, without a name; grade is None for cannot-tell, whose why is `reason`."""

    grade: int | None
    reason: str | None
    note: str | None


class Decision(NamedTuple):
    """A reviewer's decision; grade is None for "no grade can be given"."""

    query_id: str
    document_id: str
    revision: int
    grade: int | None
    reason: str
    reviewer: str
    decided_at: datetime


@dataclass(frozen=True)
class Dispute:
    """A pair on which annotators disagree, or which was decided.

    Attributes
    ----------
    grades: ascending, one per annotator who gave one.
    spread: highest grade less lowest.
    distinct: number of different grades.
    opinions: grades and cannot-tells with their notes, ordered by what they say.
    decision: the one that stands, if there is one.
    weight: what a decision would change (`agreement.consensus.dispute_weight`): grades, times how often the
        query is asked. A query whose traffic is unknown counts like the median one of the disputes.
    """

    query_id: str
    document_id: str
    query: str
    title: str
    grades: tuple[int, ...]
    cannot_tell: int
    spread: int
    distinct: int
    opinions: tuple[Opinion, ...]
    decision: Decision | None
    weight: float = 0.0


@dataclass(frozen=True)
class Case:
    """A judged pair with all that a reviewer reads: the document as the annotators last saw it."""

    dispute: Dispute
    information_need: str | None
    body: str
    url: str | None
    published: str | None

    @property
    def revision(self) -> int:
        """How many decisions the pair has had: what `decide` takes as `seen_revision`."""
        return self.dispute.decision.revision + 1 if self.dispute.decision else 0


class Ruled(NamedTuple):
    """A decision that stands, with the words by which a person knows the pair."""

    decision: Decision
    query: str
    title: str


@dataclass(frozen=True)
class Decided:
    """How many decisions were written; left_out counts the others by reason."""

    decided: int
    left_out: dict[str, int]


def disputes(store: Store, include_settled: bool = False) -> list[Dispute]:
    """Disputed pairs, by what a decision would change; with `include_settled` also those decided before.

    A pair that was sent back for one more opinion is left out until that is in.
    """
    wanted = {"disputed", "adjudicated"} if include_settled else {"disputed"}
    with store.reading() as cursor:
        votes, away = read_votes(cursor), awaited(cursor)
    pairs = [
        (pair.query_id, pair.document_id)
        for pair in settled(votes).pairs
        if pair.how in wanted and not (pair.how == "disputed" and pair[:2] in away)
    ]
    with store.reading() as cursor:
        described, traffic = _describe(cursor, pairs), dict(cursor.execute(_TRAFFIC).fetchall())
    return sorted(
        _weighed(described, traffic),
        key=lambda item: (-item.weight, -item.spread, digest(item.query_id, item.document_id)),
    )


def dispute(store: Store, query_id: str, document_id: str) -> Case:
    """A judged pair, disputed or not, with what a reviewer needs to read.

    Raises
    ------
    NotFoundError: nobody has judged the pair.
    """
    with store.reading() as cursor:
        found = _describe(cursor, [(query_id, document_id)])
        if not found or not (found[0].opinions or found[0].decision):
            raise _unjudged(query_id, document_id)
        row = cursor.execute(_READING, [query_id, document_id]).fetchone()
    return Case(found[0], *(row or (None, "", None, None)))


def recent_decisions(store: Store, reviewer: str, limit: int = 10) -> list[Ruled]:
    """The reviewer's own decisions that stand, newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(_RECENT, [reviewer, limit]).fetchall()
    return [Ruled(Decision(*row[:-2]), *row[-2:]) for row in rows]


def decide(
    store: Store,
    query: str,
    document_id: str,
    grade: int | None,
    reason: str,
    reviewer: str = COMMAND_LINE,
    seen_revision: int | None = None,
) -> Decision:
    """Decide a judged pair; the same decision once more changes nothing.

    Parameters
    ----------
    query: the query's id or its text.
    grade: a grade of the guide's scale, or None: no grade can be given.
    reviewer: the name of an annotator with the role reviewer or lead, or 'command line'.
    seen_revision: how many decisions the pair had when the reviewer saw it; None decides whatever there is.

    Raises
    ------
    InputError: the grade is not on the scale, or the reason is missing or too long.
    NotFoundError: the query or reviewer is unknown, or nobody has judged the pair.
    RefusedError: it is not the reviewer's to decide, or the pair was decided since they saw it.
    """
    with store.transaction() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        problems = list(_check(grade, reason, current_guide(cursor)))
        if problems:
            raise InputError(problems)
        known = KnownQueries(cursor).find(query)
        if known is None or not _judged(cursor, (known.query_id, document_id)):
            raise _unjudged(query, document_id)
        ruling = _Ruling(known.query_id, document_id, grade, reason.strip())
        standing = _standing(cursor)
        before = standing.get(ruling.pair)
        if before is not None and ruling.repeats(before, reviewer):
            return before
        if before is not None and seen_revision not in (None, before.revision + 1):
            raise RefusedError(overtaken(before))
        decision = _append(cursor, [ruling], standing, reviewer)[0]
        detail = {"query_id": decision.query_id, "document_id": document_id, "grade": grade}
        record_event(cursor, "adjudicate", {**detail, "revision": decision.revision}, reviewer)
    return decision


def decide_many(
    store: Store,
    proposals: Sequence[Proposal],
    reviewer: str = COMMAND_LINE,
    every_pair: bool = False,
    source: Path | None = None,
) -> Decided:
    """Decide the disputed pairs among the proposals, in one transaction.

    Parameters
    ----------
    every_pair: decide all judged pairs, agreed on or decided before.
    source: the file that the proposals come from.

    Raises
    ------
    InputError: grades that are not on the scale, missing reasons, two decisions for one pair, a text that
        several queries share; all at once.
    NotFoundError: the reviewer is unknown.
    RefusedError: it is not the reviewer's to decide.
    """
    left_out: Counter[str] = Counter()
    with store.transaction() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        rulings, problems = _rulings(proposals, current_guide(cursor), KnownQueries(cursor), left_out)
        if problems:
            raise InputError(problems, path=source, way_out="Nothing was decided: mend these lines first.")
        hows = {(pair.query_id, pair.document_id): pair for pair in consensus(cursor).pairs}
        standing = _standing(cursor)
        chosen = []
        for ruling in rulings:
            before = standing.get(ruling.pair)
            why = _why_not(hows.get(ruling.pair), every_pair)
            if before is not None and ruling.repeats(before, reviewer):
                why = why or REPEATED
            if why:
                left_out[why] += 1
            else:
                chosen.append(ruling)
        decided = Decided(len(_append(cursor, chosen, standing, reviewer)), dict(left_out))
        detail = {"source": source.name if source else None, **asdict(decided)}
        record_event(cursor, "adjudicate from a file", detail, reviewer)
    return decided


def overtaken(decision: Decision) -> str:
    """The sentence for a reviewer who still had a pair open when somebody decided it."""
    what = "that no grade can be given" if decision.grade is None else f"grade {decision.grade}"
    return (
        f"{decision.reviewer} decided this pair while you had it open: {what}, because “{decision.reason}”. "
        "Nothing of yours was kept; look at it again, and decide anew if you see it differently."
    )


class _Ruling(NamedTuple):
    """A proposal that can be written."""

    query_id: str
    document_id: str
    grade: int | None
    reason: str

    @property
    def pair(self) -> Pair:
        return (self.query_id, self.document_id)

    def repeats(self, decision: Decision, reviewer: str) -> bool:
        said = (decision.grade, decision.reason, decision.reviewer)
        return said == (self.grade, self.reason, reviewer)


_READING = """
    SELECT q.information_need, coalesce(d.body, ''), d.url, d.published
    FROM counted_judgments j
    LEFT JOIN queries q USING (query_id)
    LEFT JOIN documents d USING (content_hash)
    WHERE j.query_id = ? AND j.document_id = ?
    ORDER BY j.submitted_at DESC, j.presentation_id LIMIT 1
"""

_RECENT = """
    SELECT a.query_id, a.document_id, a.revision, a.grade, a.reason, a.reviewer, a.decided_at,
           coalesce(q.text, a.query_id),
           coalesce((SELECT max_by(d.title, p.presentation_id) FROM presentations p
                     JOIN documents d USING (content_hash)
                     WHERE p.query_id = a.query_id AND p.document_id = a.document_id), a.document_id)
    FROM current_adjudications a LEFT JOIN queries q USING (query_id)
    WHERE a.reviewer = ?
    ORDER BY a.decided_at DESC, a.query_id, a.document_id LIMIT ?
"""

_TRAFFIC = """
    SELECT query_id, traffic FROM sample_queries
    WHERE sample_id = (SELECT value FROM settings WHERE name = 'sample')
"""

_DESCRIPTION = """
    WITH wanted AS (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS document_id)
    SELECT w.query_id, w.document_id,
           coalesce(any_value(q.text), w.query_id),
           coalesce(max_by(d.title, j.submitted_at), ''),
           list((j.grade, j.reason, j.note) ORDER BY j.grade, j.reason, j.note)
               FILTER (j.presentation_id IS NOT NULL)
    FROM wanted w
    LEFT JOIN queries q USING (query_id)
    LEFT JOIN counted_judgments j USING (query_id, document_id)
    LEFT JOIN documents d USING (content_hash)
    GROUP BY w.query_id, w.document_id
"""


def _weighed(described: Sequence[Dispute], traffic: Mapping[str, int]) -> list[Dispute]:
    known = [traffic[item.query_id] for item in described if item.query_id in traffic]
    usual = median(known) if known else 1
    return [
        replace(item, weight=dispute_weight(Counter(item.grades), traffic.get(item.query_id, usual)))
        for item in described
    ]


def _describe(cursor: Cursor, pairs: Sequence[Pair]) -> list[Dispute]:
    if not pairs:
        return []
    decisions = _standing(cursor)
    described = []
    parameters = list(map(list, zip(*pairs, strict=True)))
    for query_id, document_id, query, title, said in cursor.execute(_DESCRIPTION, parameters).fetchall():
        opinions = tuple(Opinion(*opinion) for opinion in said or ())
        grades = tuple(opinion.grade for opinion in opinions if opinion.grade is not None)
        described.append(
            Dispute(
                query_id=query_id,
                document_id=document_id,
                query=query,
                title=title,
                grades=grades,
                cannot_tell=len(opinions) - len(grades),
                spread=max(grades) - min(grades) if grades else 0,
                distinct=len(set(grades)),
                opinions=opinions,
                decision=decisions.get((query_id, document_id)),
            )
        )
    return described


def _standing(cursor: Cursor) -> dict[Pair, Decision]:
    """The decision that stands for each decided pair."""
    sql = f"SELECT {', '.join(Decision._fields)} FROM current_adjudications"  # noqa: S608
    rows = fetch(cursor, Decision, sql)
    return {(row.query_id, row.document_id): row for row in rows}


def _judged(cursor: Cursor, pair: Pair) -> bool:
    sql = "SELECT 1 FROM counted_judgments WHERE query_id = ? AND document_id = ? LIMIT 1"
    return cursor.execute(sql, list(pair)).fetchone() is not None


def _unjudged(query: str, document_id: str) -> NotFoundError:
    return NotFoundError(
        f"Nobody has judged the document {document_id!r} for the query {query!r}. "
        "`goldset adjudicate list` shows the pairs that wait for a decision."
    )


def _check(grade: int | None, reason: str, guide: Guide) -> Iterator[str]:
    if grade is not None and guide.outside(grade):
        yield guide.outside(grade)
    if not reason.strip():
        yield "a decision needs a reason"
    if len(reason) > LONGEST_NOTE:
        yield f"a reason has at most {LONGEST_NOTE:,} characters, this one has {len(reason):,}"


def _rulings(
    proposals: Sequence[Proposal], guide: Guide, queries: KnownQueries, left_out: Counter[str]
) -> tuple[list[_Ruling], list[str]]:
    """One ruling a pair in the file's order, and what is wrong; counts the lines that hold no ruling."""
    first: dict[Pair, tuple[int, _Ruling]] = {}
    problems = []
    for item in proposals:
        try:
            ruling = _ruling(item, guide, queries)
        except InputError as error:
            problems += [f"line {item.line}: {problem}" for problem in error.problems]
            continue
        if isinstance(ruling, str):
            left_out[ruling] += 1
            continue
        line, other = first.setdefault(ruling.pair, (item.line, ruling))
        if other is not ruling:
            left_out[REPEATED] += 1
        if other != ruling:
            problems.append(f"line {item.line}: decides a pair of line {line} again, and differently")
    return [ruling for _, ruling in first.values()], problems


def _ruling(item: Proposal, guide: Guide, queries: KnownQueries) -> _Ruling | str:
    """The ruling in a line, or why there is none to make."""
    if not item.grade:
        return NO_GRADE
    grade = whole_number(item.grade)
    if grade is None:
        raise InputError(f"grade {item.grade!r} is not a whole number")
    problems = list(_check(grade, item.reason, guide))
    if problems:
        raise InputError(problems)
    query = queries.find(item.query)
    return _Ruling(query.query_id, item.document_id, grade, item.reason.strip()) if query else UNJUDGED


def _why_not(pair: PairConsensus | None, every_pair: bool) -> str:
    """Why a pair is not to be decided; '' when it is."""
    if pair is None or not pair.judgments:
        return UNJUDGED
    if every_pair or pair.how == "disputed":
        return ""
    return DECIDED if pair.how == "adjudicated" else UNDISPUTED


def _append(
    cursor: Cursor, rulings: Sequence[_Ruling], standing: Mapping[Pair, Decision], reviewer: str
) -> list[Decision]:
    now = utc_now()
    decisions = []
    for ruling in rulings:
        before = standing.get(ruling.pair)
        revision = 0 if before is None else before.revision + 1
        decisions.append(Decision(*ruling.pair, revision, ruling.grade, ruling.reason, reviewer, now))
    append_rows(cursor, "adjudications", decisions, _TYPES)
    return decisions
