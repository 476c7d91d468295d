"""Item views: presentations as an annotator's screen may read them.

`ItemView` is blind by construction: it has no rank, score, system, duplicate mark, split or grade of a
different person, and its id is a hash that reveals none of these facts. The server sends no further data
about a presentation. Rows are read within a database lease; views are drawn after the lease, because drawing
takes long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError
from curation.core.spans import Spans
from curation.guides.guide import Guide, load_guide
from curation.ingest.filters import NEED
from curation.labeling.judging import read_evidence_marks
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, DocumentText, draw_body, draw_document
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.upcoming import QueueItem, UpcomingWork
from curation.labeling.session.cache import SessionCache
from curation.labeling.session.query_answers import ASKING_KINDS
from curation.labeling.session.texts import ItemText, find_matched_passages
from curation.store import Cursor, Store
from curation.store.documents import VERSION

_SAID = """
SELECT DISTINCT round_id, query_id FROM query_answers
WHERE annotator = ? AND query_id IN (SELECT unnest(?::TEXT[]))
"""
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
_OWN = f"""
SELECT q.text, d.title, d.body, d.url, d.published, d.metadata, r.guide_hash
FROM presentations p JOIN round_states r USING (round_id) JOIN queries q USING (query_id) JOIN {VERSION}
WHERE p.presentation_id = ? AND p.annotator = ?
"""  # noqa: S608


class ItemView(NamedTuple):
    """A presentation as an annotator's screen may read it.

    Attributes
    ----------
    passage: the best passage, drawn by the guide's template, with the query's words highlighted.
    has_more: whether the document is longer than the passage; `draw_whole_document` returns the whole
        document.
    url, published: address and date of the document, where the guide has no template.
    facts: the fields that the guide's template shows, in order; None without a template.
    guide_hash: the round's current guide.
    kind: 'practice' or 'work'.
    asks: whether the screen asks if the corpus answers the query. The screen asks on the annotator's last
        open item of the query, unless the annotator has already answered the question or has too few items of
        the query.
    put_off: whether the annotator has skipped the item.
    place, of: the number of the item among the annotator's items of the query in the round, or of its list,
        and the number of all these items, repeats included; 0 in the history.
    list_id: id of the item's list, whose items are shown on one page; '' for an item outside a list.
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
    """An answered presentation, with the answer if the annotator may see the answer.

    Attributes
    ----------
    kind: 'grade' or 'cannot_tell'; None if the answer is withheld with its grade and reason.
    changed: whether the annotator has answered more than once; set only in the history.
    guide_hash: the guide under which the annotator answered, which may be older than the guide of the view;
        set only in the history.
    evidence: the characters of the body that the annotator marked, even if the answer was undone.
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
    """A presentation before its `ItemView` is drawn; the fields after `guide` go into the view unchanged."""

    text: ItemText
    guide: Guide
    presentation_id: str
    revision: int
    kind: str
    asks: bool
    place: int = 0
    of: int = 0
    put_off: bool = False
    list_id: str = ""

    def drawn(self, image_hosts: frozenset[str]) -> ItemView:
        """Draw the view."""
        text, guide, *_ = self
        drawing = draw_document(
            text.document,
            text.query,
            guide.presentation,
            matched=text.matched,
            image_hosts=image_hosts,
            markable=guide.evidence is not None,
        )
        view_fields: dict[str, Any] = dict(zip(self._fields[2:], self[2:], strict=True))
        view_fields |= drawing._asdict() | {"query": text.query, "information_need": text.information_need}
        view_fields["kind"] = "practice" if self.kind == "practice" else "work"
        return ItemView(**view_fields, guide_hash=guide.guide_hash)


AnswerRow = tuple[ItemRow, dict[str, Any]]
"""An answered presentation before drawing, and its answer keyed by the field names of `AnsweredItem`."""


def draw_answers(rows: Iterable[AnswerRow], image_hosts: frozenset[str]) -> list[AnsweredItem]:
    """Draw answered presentations."""
    return [AnsweredItem(row.drawn(image_hosts), **answer) for row, answer in rows]


def read_rows(
    cursor: Cursor,
    cache: SessionCache,
    work: UpcomingWork,
    items: Sequence[QueueItem],
    upcoming: Sequence[QueueItem],
) -> list[ItemRow]:
    """Read the rows of open items, which are drawn after the lease, and read ahead the texts of `upcoming`
    items."""
    asking_ids = _find_last_items(cursor, cache.annotator, work, items)
    lists = work.lists()
    unlisted = work.alone() if lists else set()
    item_rows = []
    for item, text, (number, count) in zip(
        items, cache.texts(cursor, items, upcoming), _number_items(work, items, lists), strict=True
    ):
        round_ = work.rounds[item.round_id]
        key, put_off = item.presentation_id, item.put_off is not None
        row_fields = (key, item.revision, round_.kind, key in asking_ids, number, count, put_off)
        list_id = "" if key in unlisted else lists.get(key, "")
        item_rows.append(ItemRow(text, cache.guides[round_.guide_hash], *row_fields, list_id))
    return item_rows


def read_previous_answer(
    store: Store, annotator: str, hosts: frozenset[str] = NO_IMAGE_HOSTS
) -> AnsweredItem | None:
    """Read the presentation that the annotator answered last and can undo; None without an answer.

    An undone answer is withheld, because the item is open again. Note and flag are still sent.
    """
    with store.reading() as cursor:
        rows = read_answered(cursor, _LAST, [annotator])
    views = draw_answers(rows, hosts)
    return views[0]._replace(kind=None, grade=None, reason=None) if views else None


def read_answered(cursor: Cursor, sql: str, parameters: list[str] | dict[str, Any]) -> list[AnswerRow]:
    """Read answered presentations by an SQL query.

    Parameters
    ----------
    sql: an SQL query with the columns presentation, next revision, query, information need, the columns of
        `DocumentText`, guide, kind, asks, and the fields of `AnsweredItem` after `showing`.
    """
    rows = cursor.execute(sql, parameters).fetchall()
    ids = [row[0] for row in rows]
    matched_spans, marks = find_matched_passages(cursor, ids), read_evidence_marks(cursor, ids)
    guides = {name: load_guide(cursor, name) for name in {row[9] for row in rows}}
    answered: list[AnswerRow] = []
    for row in rows:
        text = ItemText(row[2], row[3], DocumentText(*row[4:9]), matched_spans.get(row[0]))
        guide_hash, kind, asks = row[9:12]
        item_row = ItemRow(text, guides[guide_hash], row[0], row[1], kind, asks)
        answer = dict(zip(AnsweredItem._fields[1:], row[12:], strict=False))
        if row[12] is not None:  # an answer that is withheld withholds its marks
            answer["evidence"] = marks.get(row[0], ())
        answered.append((item_row, answer))
    return answered


def draw_whole_document(
    store: Store, annotator: str, presentation_id: str, image_hosts: frozenset[str] = NO_IMAGE_HOSTS
) -> list[Node]:
    """Draw the whole document of an annotator's presentation, with the query's words highlighted.

    Raises
    ------
    NotFoundError: the presentation is unknown or belongs to a different annotator; the message is the same.
    """
    with store.reading() as cursor:
        columns = cursor.execute(_OWN, [presentation_id, annotator]).fetchone()
        guide = load_guide(cursor, columns[-1]) if columns else None
    if columns is None or guide is None:
        raise NotFoundError("This item is not assigned to you.")
    query, *document, _ = columns
    return draw_body(DocumentText(*document), query, guide, image_hosts)


def _number_items(
    work: UpcomingWork, items: Sequence[QueueItem], lists: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, int]]:
    """Find each item's number within its list, or within its query and round, and the count of items there.

    Items are numbered by position, so that a skipped item keeps its number.
    """

    def group(item: QueueItem) -> tuple[str, str]:
        return item.round_id, lists.get(item.presentation_id, item.query_id)

    groups: dict[tuple[str, str], list[str]] = {group(item): [] for item in items}
    for item in work.items:
        if group(item) in groups:
            groups[group(item)].append(item.presentation_id)
    members = [groups[group(item)] for item in items]
    return [(ids.index(item.presentation_id) + 1, len(ids)) for item, ids in zip(items, members, strict=True)]


def _find_last_items(cursor: Cursor, author: str, work: UpcomingWork, items: Sequence[QueueItem]) -> set[str]:
    """Find the items on which the screen asks whether the corpus answers the query.

    Repeats count among the items of a query; otherwise a missing question would reveal the repeats.
    """
    last_ids = work.lasts() if items else set()
    candidates = [item for item in items if item.presentation_id in last_ids]
    last_items = []
    for item, (_, count) in zip(candidates, _number_items(work, candidates), strict=True):
        round_ = work.rounds[item.round_id]
        if round_.kind in ASKING_KINDS and 0 < round_.ask_from <= count:
            last_items.append(item)
    if not last_items:
        return set()
    answered = set(cursor.execute(_SAID, [author, [item.query_id for item in last_items]]).fetchall())
    return {item.presentation_id for item in last_items if (item.round_id, item.query_id) not in answered}
