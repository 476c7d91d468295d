"""Item views: all that an annotator's screen may read of a presentation, drawn after the file was let go.

`ItemView` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError
from curation.core.spans import Spans
from curation.guides.guide import Guide, guide_by_hash
from curation.ingest.filters import NEED
from curation.labeling.judging import marks_of
from curation.labeling.presentation.drawing import NOBODY, ReadDocument, draw, whole_passage
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.upcoming import OpenRound, QueueItem, UpcomingWork
from curation.labeling.session.cache import SessionCache
from curation.labeling.session.query_answers import ASKED_IN
from curation.labeling.session.texts import Text, matched_passages
from curation.store import Cursor, Store
from curation.store.documents import VERSION


class ItemView(NamedTuple):
    """All that an annotator's screen may read of a presentation.

    Attributes
    ----------
    passage: the best passage, the query's words marked, as the guide's template wants it.
    has_more: the document is longer than the passage; `whole_document` returns it.
    url, published: of the document, where the guide has no template.
    facts: the fields that the guide's template shows, in order; None without a template.
    guide_hash: the guide in force in the round.
    kind: 'practice' or 'work'.
    asks: whether to ask if the corpus answers the query: on the annotator's last open item of the query,
        unless they have said it, or have fewer items of it than the round asks from.
    put_off: its annotator has put it off.
    place, of: which of the annotator's items of the query this is in its round, or in its list, and how many
        there are; a repeat counts like any other. 0 where the queue does not say.
    list_id: the same for the items of a list, which come on one page; '' for one that comes by itself.
    """

    presentation_id: str
    revision: int
    query: str
    information_need: str | None
    title: list[Segment]
    passage: list[Node]
    has_more: bool
    url: str | None
    published: str | None
    facts: list[Fact] | None
    guide_hash: str
    kind: str
    asks: bool
    place: int = 0
    of: int = 0
    put_off: bool = False
    list_id: str = ""


class AnsweredItem(NamedTuple):
    """A showing that its annotator has answered, with the answer where it may be seen.

    Attributes
    ----------
    kind: 'grade' or 'cannot_tell'; None if the answer is withheld, and the grade and reason with it.
    changed: answered more than once; named in the history only.
    guide_hash: the guide under which the answer was given, which may be older than the guide of the showing;
        named in the history only.
    evidence: what was marked, also where the answer was taken back, as characters of the document's body.
    """

    showing: ItemView
    kind: str | None = None
    grade: int | None = None
    reason: str | None = None
    note: str | None = None
    flagged: bool = False
    changed: bool = False
    guide_hash: str | None = None
    evidence: Spans = ()


class ItemRow(NamedTuple):
    """What a `ItemView` is drawn from: drawing takes long, so the file is let go first."""

    presentation_id: str
    revision: int
    text: Text
    guide: Guide
    kind: str
    asks: bool
    place: int = 0
    of: int = 0
    put_off: bool = False
    list_id: str = ""

    def drawn(self, image_hosts: frozenset[str]) -> ItemView:
        """What the screen may read of it."""
        query, information_need, document, matched = self.text
        guide, marked = self.guide, self.guide.evidence is not None
        shown = draw(
            document, query, guide.presentation, matched=matched, image_hosts=image_hosts, markable=marked
        )
        return ItemView(
            presentation_id=self.presentation_id,
            revision=self.revision,
            query=query,
            information_need=information_need,
            **shown._asdict(),
            guide_hash=guide.guide_hash,
            kind="practice" if self.kind == "practice" else "work",
            asks=self.asks,
            place=self.place,
            of=self.of,
            put_off=self.put_off,
            list_id=self.list_id,
        )


AnswerRow = tuple[ItemRow, dict[str, Any]]
"""An answered showing before it is drawn, and its answer by the names of `AnsweredItem`."""


def drawn_answers(rows: Iterable[AnswerRow], image_hosts: frozenset[str]) -> list[AnsweredItem]:
    """What the screen may read of answered showings."""
    return [AnsweredItem(row.drawn(image_hosts), **answer) for row, answer in rows]


def read_showings(
    cursor: Cursor,
    cache: SessionCache,
    work: UpcomingWork,
    items: Sequence[QueueItem],
    upcoming: Sequence[QueueItem],
) -> list[ItemRow]:
    """Some of the annotator's open items, to be drawn after the lease; texts of `upcoming` are read along."""
    asked = _asked(cursor, cache.annotator, work, items)
    lists = work.lists()
    alone = work.alone() if lists else set()
    texts, places = cache.texts(cursor, items, upcoming), _places(work, items, lists)
    rows = []
    for item, text, (place, of) in zip(items, texts, places, strict=True):
        round_ = work.rounds[item.round_id]
        about = (cache.guides[round_.guide_hash], round_.kind, item.presentation_id in asked)
        list_id = "" if item.presentation_id in alone else lists.get(item.presentation_id, "")
        late = item.put_off is not None
        rows.append(ItemRow(item.presentation_id, item.revision, text, *about, place, of, late, list_id))
    return rows


def _places(
    work: UpcomingWork, items: Sequence[QueueItem], lists: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, int]]:
    """The number of each item in its list, or in its query and round, and how many items there are.

    By position, so that what was put off keeps its place.
    """

    def group(item: QueueItem) -> tuple[str, str]:
        return item.round_id, lists.get(item.presentation_id, item.query_id)

    groups: dict[tuple[str, str], list[str]] = {group(item): [] for item in items}
    for item in work.items:
        if group(item) in groups:
            groups[group(item)].append(item.presentation_id)
    of = [groups[group(item)] for item in items]
    return [(ids.index(item.presentation_id) + 1, len(ids)) for item, ids in zip(items, of, strict=True)]


def _asks(round_: OpenRound, of: int) -> bool:
    """Whether a round asks about a query with so many items; a repeat counts, or its lack would show."""
    return round_.kind in ASKED_IN and 0 < round_.ask_from <= of


_SAID = """
SELECT DISTINCT round_id, query_id FROM query_answers
WHERE annotator = ? AND query_id IN (SELECT unnest(?::TEXT[]))
"""


def _asked(cursor: Cursor, annotator: str, work: UpcomingWork, items: Sequence[QueueItem]) -> set[str]:
    """The items on which to ask whether the corpus answers the query."""
    lasts = work.lasts() if items else set()
    ending = [item for item in items if item.presentation_id in lasts]
    last_items = [
        item
        for item, (_, of) in zip(ending, _places(work, ending), strict=True)
        if _asks(work.rounds[item.round_id], of)
    ]
    if not last_items:
        return set()
    answered = set(cursor.execute(_SAID, [annotator, [item.query_id for item in last_items]]).fetchall())
    return {item.presentation_id for item in last_items if (item.round_id, item.query_id) not in answered}


_LAST = f"""
SELECT p.presentation_id, s.next_revision, q.text, {NEED}, d.title, d.body, d.url, d.published,
       d.metadata, r.guide_hash, r.kind, false, s.kind, s.grade, s.reason, s.note, s.flagged
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN presentation_states s USING (presentation_id)
JOIN queries q USING (query_id)
JOIN {VERSION}
WHERE p.annotator = ? AND NOT r.closed AND r.kind NOT IN ('practice', 'imported') AND s.answered
ORDER BY s.written DESC
LIMIT 1
"""  # noqa: S608


def previous_answered(
    store: Store, annotator: str, image_hosts: frozenset[str] = NOBODY
) -> AnsweredItem | None:
    """The presentation that the annotator answered last, or None: what undo takes back.

    Taken back it is open, so the answer is withheld. Note and flag are there, to be sent once more.
    """
    with store.reading() as cursor:
        answered = read_answered(cursor, _LAST, [annotator])
    views = drawn_answers(answered, image_hosts)
    return views[0]._replace(kind=None, grade=None, reason=None) if views else None


def read_answered(cursor: Cursor, sql: str, parameters: list[str] | dict[str, Any]) -> list[AnswerRow]:
    """The rows of a query: presentation, next revision, query, information need, the columns of
    `ReadDocument`, guide, kind and asks, and then the columns of `AnsweredItem` after `showing`.
    """
    rows = cursor.execute(sql, parameters).fetchall()
    ids = [row[0] for row in rows]
    matched, marks = matched_passages(cursor, ids), marks_of(cursor, ids)
    guides = {name: guide_by_hash(cursor, name) for name in {row[9] for row in rows}}
    answered: list[AnswerRow] = []
    for row in rows:
        text = Text(row[2], row[3], ReadDocument(*row[4:9]), matched.get(row[0]))
        guide_hash, kind, asks = row[9:12]
        showing = ItemRow(row[0], row[1], text, guides[guide_hash], kind, asks)
        answer = dict(zip(AnsweredItem._fields[1:], row[12:], strict=False))
        if row[12] is not None:  # an answer that is withheld withholds its marks
            answer["evidence"] = marks.get(row[0], ())
        answered.append((showing, answer))
    return answered


_OWN = f"""
SELECT q.text, d.title, d.body, d.url, d.published, d.metadata, r.guide_hash
FROM presentations p JOIN round_states r USING (round_id) JOIN queries q USING (query_id) JOIN {VERSION}
WHERE p.presentation_id = ? AND p.annotator = ?
"""  # noqa: S608


def whole_document(
    store: Store, annotator: str, presentation_id: str, image_hosts: frozenset[str] = NOBODY
) -> list[Node]:
    """The whole document of one of the annotator's presentations, the query's words marked.

    Raises
    ------
    NotFoundError: there is no such presentation, or it is somebody else's; both give the same sentence.
    """
    with store.reading() as cursor:
        row = cursor.execute(_OWN, [presentation_id, annotator]).fetchone()
        guide = guide_by_hash(cursor, row[-1]) if row else None
    if row is None or guide is None:
        raise NotFoundError("This item is not among your items.")
    query, *document, _ = row
    return whole_passage(ReadDocument(*document), query, guide, image_hosts)
