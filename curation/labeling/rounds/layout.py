"""Control items: pairs with a decided grade, planted blind among an annotator's work.

They look like any other item and go only to annotators who never had the pair. They count for one figure: how
often an annotator gives the decided grade. They join queries that the annotator has anyway, or come as a
query with several documents, so that no control item is recognised by being alone.

The layout of a round: its settings, and each annotator's work as presentations in an order of its own.

Control items are planted among the work and blind duplicates placed; what could not be placed is counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from curation.errors import refuse_problems
from curation.guides.guide import current_guide
from curation.labeling.rounds.assignment import (
    CLOSEST_DUPLICATE,
    Candidate,
    Slot,
    distances,
    duplicates_wanted,
    order,
)
from curation.statistics.intervals import wilson
from curation.store import Cursor, Presentation, append_rows
from curation.store.documents import current_snapshot
from curation.text import amount, digest

MOST_PER_QUERY = 5
"""Control items of one query for one annotator."""

TOO_FEW = "control items: too few decided pairs that the annotator has not had"
ALONE = "control items are alone: their query has no other document there"


class ControlItem(NamedTuple):
    """A pair with its expected grade and the reason for it."""

    candidate: Candidate
    grade: int
    explanation: str | None

    @property
    def pair(self) -> tuple[str, str]:
        """Query id and document id."""
        return self.candidate.query_id, self.candidate.document_id


class ControlItemPool(NamedTuple):
    """Pairs that can be planted, and who had which: (annotator, query id, document id)."""

    items: tuple[ControlItem, ...]
    had: frozenset[tuple[str, str, str]]
    left_out: dict[str, int]


class PlantedItems(NamedTuple):
    """What one annotator gets.

    Attributes
    ----------
    missing: how many were wanted and not found.
    alone: how many are the only document of their query.
    """

    items: list[ControlItem]
    missing: int
    alone: int


MINIMUM_ANSWERED = 10
"""Answered control items below which an annotator's share is not shown as a figure."""


class ControlItemResult(NamedTuple):
    """How one annotator does on control items.

    right: answers with the decided grade; share with Wilson's 95 % interval, None where nothing is answered.
    """

    annotator: str
    planted: int
    answered: int
    right: int
    share: float | None
    low: float | None
    high: float | None

    @property
    def too_few(self) -> bool:
        return self.answered < MINIMUM_ANSWERED


def read_control_items(cursor: Cursor) -> ControlItemPool:
    """The decided pairs whose document is as it was when it was decided, by query and document id.

    `left_out`: decided pairs whose document changed or left the corpus, whose grade is not on the scale of
    the guide in force, or that were decided to have no grade.
    """
    scale = current_guide(cursor).values
    items, left_out = [], defaultdict[str, int](int)
    for query_id, document_id, grade, reason, content_hash, same in cursor.execute(
        _DECIDED, [current_snapshot(cursor)]
    ).fetchall():
        if grade is None:
            left_out["decided to have no grade"] += 1
        elif not same:
            left_out["the document changed, or left the corpus, since it was decided"] += 1
        elif grade not in scale:
            left_out["the decided grade is not on the guide's scale"] += 1
        else:
            items.append(ControlItem(Candidate(query_id, document_id, content_hash), grade, reason))
    return ControlItemPool(tuple(items), frozenset(cursor.execute(_HAD).fetchall()), dict(left_out))


def plant(
    work: Mapping[str, Sequence[Candidate]],
    pool: ControlItemPool,
    annotator: str,
    share: float,
    salt: str,
    taken: Collection[tuple[str, str]],
) -> PlantedItems:
    """Choose control items for one annotator, about `share` of their work.

    Parameters
    ----------
    work: query id → candidates.
    taken: pairs that the round shows for judging.
    """
    wanted = round(share * sum(map(len, work.values())))
    groups: dict[str, list[ControlItem]] = defaultdict(list)
    for item in pool.items:
        if item.pair not in taken and (annotator, *item.pair) not in pool.had:
            groups[item.candidate.query_id].append(item)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query not in work, len(groups[query]) == 1, digest(salt, "known", query)

    chosen: list[ControlItem] = []
    alone = 0
    for query in sorted(groups, key=rank):
        if len(chosen) >= wanted:
            break
        most = min(MOST_PER_QUERY, max(2, wanted - len(chosen)))
        found = sorted(groups[query], key=lambda item: digest(salt, "known", *item.pair))[:most]
        if len(found) == 1 and query not in work:
            alone += 1
        chosen.extend(found)
    return PlantedItems(chosen, max(0, wanted - len(chosen)), alone)


def with_control_items(
    work: Mapping[str, Sequence[Candidate]], items: Sequence[ControlItem]
) -> dict[str, list[Candidate]]:
    """The work with the control items among it."""
    merged = {query: list(candidates) for query, candidates in work.items()}
    for item in items:
        merged.setdefault(item.candidate.query_id, []).append(item.candidate)
    return merged


def write_control_items(cursor: Cursor, round_id: str, items: Collection[ControlItem]) -> None:
    """Store the expected grades of a round's control items; those that it has already do not change."""
    had = set(
        cursor.execute(
            "SELECT query_id, document_id FROM known_answers WHERE round_id = ?", [round_id]
        ).fetchall()
    )
    new = sorted({item.pair: item for item in items if item.pair not in had}.values())
    rows = [
        (item.candidate.query_id, item.candidate.document_id, item.grade, item.explanation or "")
        for item in new
    ]
    names = ("query_id", "document_id", "grade", "explanation")
    append_rows(cursor, "known_answers", rows, names, round_id=round_id)


def practised(cursor: Cursor) -> set[tuple[str, str, str]]:
    """(annotator, query id, document id) of every pair whose expected grade an annotator is shown."""
    return set(cursor.execute(_PRACTISED).fetchall())


def control_item_results(cursor: Cursor, round_id: str) -> list[ControlItemResult]:
    """How everyone with control items in the round does on them, by name."""
    results = []
    for annotator, planted, answered, right in cursor.execute(_RESULTS, [round_id]).fetchall():
        share = right / answered if answered else None
        low, high = wilson(right, answered) if answered else (None, None)
        results.append(ControlItemResult(annotator, planted, answered, right, share, low, high))
    return results


_DECIDED = """
SELECT a.query_id, a.document_id, a.grade, a.reason, s.content_hash,
       s.content_hash IS NOT NULL AND coalesce(a.content_hash = s.content_hash, EXISTS (
           FROM presentations p
           WHERE p.query_id = a.query_id AND p.document_id = a.document_id
             AND p.content_hash = s.content_hash))
FROM current_adjudications a
LEFT JOIN snapshot_documents s ON s.document_id = a.document_id AND s.snapshot_id = ?
ORDER BY a.query_id, a.document_id
"""

_HAD = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE (query_id, document_id) IN (SELECT (query_id, document_id) FROM current_adjudications)
"""

_RESULTS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.answered AND s.grade IS NOT DISTINCT FROM k.grade)
FROM live_presentations p
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
GROUP BY p.annotator ORDER BY p.annotator
"""

_PRACTISED = """
SELECT DISTINCT p.annotator, p.query_id, p.document_id
FROM presentations p JOIN rounds r USING (round_id) WHERE r.kind = 'practice'
"""


ASK_FROM = 5
"""An annotator who saw fewer documents of a query knows too little of what the corpus holds for it."""


class RoundLayout(NamedTuple):
    """The settings of a round, whatever it shows.

    Attributes
    ----------
    known: control items as a share of each annotator's first showings.
    per_day: answers expected in a day; blind duplicates come on another one where the order allows it.
    ask_from: annotators say whether the corpus answers a query of which they have so many items or more; 0
        never asks. It changes nothing about what is shown.
    lists: the documents of a query come as a list on one page. Who has what, and in which order, is the same.
    """

    name: str
    kind: str
    annotators: Sequence[str]
    overlap: int
    duplicates: float
    seed: int
    control_items: float = 0.0
    per_day: int | None = None
    ask_from: int = ASK_FROM
    lists: bool = False

    def checked(self) -> RoundLayout:
        """This layout with each annotator once.

        Raises
        ------
        InputError: its numbers do not fit together; all problems at once.
        """
        names = list(dict.fromkeys(self.annotators))
        problems = []
        if not self.name.strip():
            problems.append("the round needs a name")
        if not names:
            problems.append("nobody is chosen to judge: the round needs annotators")
        elif not 1 <= self.overlap <= len(names):
            problems.append(
                f"an overlap of {self.overlap} does not fit {amount(len(names), 'annotator')}: it is how "
                f"many different people judge each pair, between 1 and {len(names)}"
            )
        if not 0 <= self.duplicates <= 0.5:
            problems.append(
                f"{self.duplicates} is no share of blind duplicates: expected 0 to 0.5, such as 0.08"
            )
        if not 0 <= self.control_items <= 0.5:
            problems.append(
                f"{self.control_items} is no share of control items: expected 0 to 0.5, such as 0.05"
            )
        if self.per_day is not None and self.per_day < 1:
            problems.append(f"{amount(self.per_day, 'answer')} a day: expected 1 or more")
        if self.ask_from < 0:
            problems.append(
                f"asking from {amount(self.ask_from, 'document')} on: expected 1 or more, or 0 for never"
            )
        refuse_problems(problems)
        return self._replace(annotators=names)


class LaidOut(NamedTuple):
    """All annotators' presentations; `planted_by` counts the control items by annotator."""

    rows: list[Presentation]
    items: list[ControlItem]
    planted_by: dict[str, int]
    left_out: dict[str, int]


def lay_out(
    round_id: str,
    work: Mapping[str, Mapping[str, Sequence[Candidate]]],
    layout: RoundLayout,
    pool: ControlItemPool | None,
    taken: set[tuple[str, str]],
    starts: Mapping[str, int] | None = None,
) -> LaidOut:
    """Work as presentations: control items planted, orders drawn, blind duplicates placed.

    Parameters
    ----------
    work: annotator → query id → candidates.
    taken: the pairs that the round shows for judging.
    starts: annotator → first free position; 0 for others.
    """
    rows: list[Presentation] = []
    planted: dict[str, PlantedItems] = {}
    left_out: Counter[str] = Counter()
    for who, given in work.items():
        start = (starts or {}).get(who, 0)
        salt = f"{layout.seed}:{who}:{start}" if start else f"{layout.seed}:{who}"
        if pool is not None:
            planted[who] = plant(given, pool, who, layout.control_items, salt, taken)
            left_out.update({TOO_FEW: planted[who].missing, ALONE: planted[who].alone})
        mixed = with_control_items(given, planted[who].items if who in planted else [])
        steps = order(mixed, layout.duplicates, salt, layout.per_day)
        left_out.update(_duplicates_left_out(mixed, steps, layout))
        rows.extend(presentations_of(round_id, who, steps, start))
    return LaidOut(
        rows,
        [item for chosen in planted.values() for item in chosen.items],
        {who: len(chosen.items) for who, chosen in planted.items()},
        {reason: count for reason, count in left_out.items() if count},
    )


def _duplicates_left_out(
    work: Mapping[str, Sequence[Candidate]], steps: Sequence[Slot], layout: RoundLayout
) -> dict[str, int]:
    again = [step.candidate for step in steps if step.again]
    wanted = duplicates_wanted(layout.duplicates, sum(map(len, work.values())))
    counts = {
        f"blind duplicates that would come back within {CLOSEST_DUPLICATE} presentations, or be half of a "
        "query's documents": wanted - len(again),
        "blind duplicates come back alone: their query has no other document": sum(
            len(work[candidate.query_id]) == 1 for candidate in again
        ),
    }
    if layout.per_day:
        near = sum(distance < layout.per_day for distance in distances(steps))
        counts[f"blind duplicates come back within {layout.per_day:,} presentations, on the same day"] = near
    return counts


def presentations_of(
    round_id: str, annotator: str, showings: Sequence[Slot], start: int = 0
) -> list[Presentation]:
    """The rows of an annotator's order, at positions from `start`."""
    rows: list[Presentation] = []
    first: dict[Candidate, str] = {}
    for position, (candidate, again) in enumerate(showings, start):
        presentation_id = digest("presentation", round_id, annotator, position)
        first.setdefault(candidate, presentation_id)
        duplicate_of = first[candidate] if again else None
        rows.append(Presentation(presentation_id, round_id, annotator, *candidate, position, duplicate_of))
    return rows
