"""Item views: presentations as an annotator's screen may read them.

`ItemView` is blind by construction: it has no rank, score, system, duplicate mark, split or grade of a
different person, and its id is a hash that reveals none of these facts. The server sends no further data
about a presentation. Rows are read within a database lease; views are drawn after the lease, because drawing
takes long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError
from curation.core.spans import Spans
from curation.guides.guide import Guide, load_guide
from curation.ingest.filters import NEED
from curation.labeling.judging import read_evidence_marks
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, DocumentText, Hosts, draw_by_guide
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.upcoming import QueueItem, QueueItems, UpcomingWork
from curation.labeling.session.cache import SessionCache
from curation.labeling.session.query_answers import ASKING_KINDS
from curation.labeling.session.texts import ItemText, find_matched_passages
from curation.store import Cursor, Store
from curation.store.documents import VERSION

_ANSWERED_QUERIES = """
SELECT DISTINCT round_id, query_id FROM query_answers
WHERE annotator = ? AND query_id IN (SELECT unnest(?::TEXT[]))
"""
_LAST_ANSWER = f"""
SELECT p.presentation_id, s.next_revision, q.text, {NEED}, d.title, d.body, d.url, d.published,
       d.metadata, r.guide_hash, r.kind, s.kind, s.grade, s.reason, s.note, s.flagged
FROM live_presentations p
JOIN round_states r USING (round_id)
JOIN presentation_states s USING (presentation_id)
JOIN queries q USING (query_id)
JOIN {VERSION}
WHERE p.annotator = ? AND NOT r.closed AND r.kind NOT IN ('practice', 'imported') AND s.answered
ORDER BY s.written DESC
LIMIT 1
"""  # noqa: S608
_OWN_DOCUMENT = f"""
SELECT q.text, d.title, d.body, d.url, d.published, d.metadata, r.guide_hash
FROM presentations p JOIN round_states r USING (round_id) JOIN queries q USING (query_id) JOIN {VERSION}
WHERE p.presentation_id = ? AND p.annotator = ?
"""  # noqa: S608


class ItemView(NamedTuple):
    """A presentation with only the facts that an annotator's screen may read.

    Attributes
    ----------
    passage: the best passage, drawn by the guide's template, with the query's words highlighted.
    has_more: whether the document is longer than the passage; `draw_whole_document` returns the whole
        document.
    url, published: address and date of the document, where the guide has no template.
    facts: the fields that the guide's template shows, in order; None without a template.
    guide_hash: the round's current guide.
    kind: 'practice' or 'work'.
    asks_about_query: whether the screen asks if the corpus answers the query. The screen asks on the
        annotator's last open item of the query, unless the annotator has already answered the question or has
        too few items of the query.
    skipped: whether the annotator has skipped the item.
    item_number: the number of the item, from 1, among the annotator's items of the query in the round, or
        among the items of its list; 0 in the history.
    item_count: the number of all these items, repeats included; 0 in the history.
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
    asks_about_query: bool
    item_number: int = 0
    item_count: int = 0
    skipped: bool = False
    list_id: str = ""


class AnsweredItem(NamedTuple):
    """An answered presentation, with the answer if the annotator may see it.

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
    asks_about_query: bool
    item_number: int = 0
    item_count: int = 0
    skipped: bool = False
    list_id: str = ""

    def draw(self, image_hosts: Hosts) -> ItemView:
        """Draw the presentation's `ItemView`."""
        text, guide = self.text, self.guide
        drawing = draw_by_guide(text.document, text.query, guide, image_hosts, matched=text.matched)
        return ItemView(
            presentation_id=self.presentation_id,
            revision=self.revision,
            query=text.query,
            information_need=text.information_need,
            **drawing._asdict(),
            guide_hash=guide.guide_hash,
            kind="practice" if self.kind == "practice" else "work",
            asks_about_query=self.asks_about_query,
            item_number=self.item_number,
            item_count=self.item_count,
            skipped=self.skipped,
            list_id=self.list_id,
        )


AnswerRow = tuple[ItemRow, dict[str, Any]]
"""An answered presentation before drawing, and its answer keyed by the field names of `AnsweredItem`."""


def draw_answers(rows: Iterable[AnswerRow], image_hosts: Hosts) -> list[AnsweredItem]:
    """Draw the `ItemView` of each answered presentation, with its answer."""
    return [AnsweredItem(row.draw(image_hosts), **answer) for row, answer in rows]


def read_rows(
    cursor: Cursor, cache: SessionCache, work: UpcomingWork, items: QueueItems, upcoming: QueueItems
) -> list[ItemRow]:
    """Read the rows of open items, which are drawn after the lease, and prefetch the texts of `upcoming`
    items."""
    asking_ids = _find_asking_ids(cursor, cache.annotator, work, items)
    list_starts = work.find_list_starts()
    unlisted_ids = work.find_unlisted_ids() if list_starts else set()
    texts = cache.read_texts(cursor, items, upcoming)
    numbers = _number_items(work, items, list_starts)
    item_rows = []
    for item, text, (item_number, item_count) in zip(items, texts, numbers, strict=True):
        round_ = work.rounds[item.round_id]
        is_listed = item.presentation_id not in unlisted_ids
        item_rows.append(
            ItemRow(
                text=text,
                guide=cache.guides[round_.guide_hash],
                presentation_id=item.presentation_id,
                revision=item.revision,
                kind=round_.kind,
                asks_about_query=item.presentation_id in asking_ids,
                item_number=item_number,
                item_count=item_count,
                skipped=item.skip_number is not None,
                list_id=list_starts.get(item.presentation_id, "") if is_listed else "",
            )
        )
    return item_rows


def read_previous_answer(store: Store, annotator: str, hosts: Hosts = NO_IMAGE_HOSTS) -> AnsweredItem | None:
    """Read the presentation that the annotator answered last and can undo; None if there is no answer.

    An undone answer is withheld, because the item is open again. Note and flag are still sent.
    """
    with store.reading() as cursor:
        rows = read_answered(cursor, _LAST_ANSWER, [annotator])
    views = draw_answers(rows, hosts)
    return views[0]._replace(kind=None, grade=None, reason=None) if views else None


def read_answered(cursor: Cursor, sql: str, parameters: list[str] | dict[str, Any]) -> list[AnswerRow]:
    """Read the answered presentations that an SQL query selects.

    Parameters
    ----------
    sql: an SQL query with the columns presentation, next revision, query, information need, the columns of
        `DocumentText`, guide, kind of the round, and the fields of `AnsweredItem` after `showing`, without
        `evidence`.
    """
    rows = cursor.execute(sql, parameters).fetchall()
    ids = [row[0] for row in rows]
    matched_spans = find_matched_passages(cursor, ids)
    marks = read_evidence_marks(cursor, ids)
    guides: dict[str, Guide] = {}
    answered: list[AnswerRow] = []
    for presentation_id, revision, query, information_need, *columns in rows:
        document = DocumentText(*columns[:5])
        guide_hash, kind, *answer_columns = columns[5:]
        if guide_hash not in guides:
            guides[guide_hash] = load_guide(cursor, guide_hash)
        text = ItemText(query, information_need, document, matched_spans.get(presentation_id))
        item_row = ItemRow(text, guides[guide_hash], presentation_id, revision, kind, asks_about_query=False)
        answer = dict(zip(AnsweredItem._fields[1:], answer_columns, strict=False))
        if answer["kind"] is not None:  # an answer that is withheld withholds its marks
            answer["evidence"] = marks.get(presentation_id, ())
        answered.append((item_row, answer))
    return answered


def draw_whole_document(store: Store, annotator: str, presentation_id: str, image_hosts: Hosts) -> list[Node]:
    """Draw the whole document of an annotator's presentation, with the query's words highlighted.

    Raises
    ------
    NotFoundError: the presentation is unknown or belongs to a different annotator; the message is the same.
    """
    with store.reading() as cursor:
        columns = cursor.execute(_OWN_DOCUMENT, [presentation_id, annotator]).fetchone()
        guide = load_guide(cursor, columns[-1]) if columns else None
    if columns is None or guide is None:
        raise NotFoundError("This item is not assigned to you.")
    query, *document, _ = columns
    return draw_by_guide(DocumentText(*document), query, guide, image_hosts, longest=None).passage


def _number_items(
    work: UpcomingWork, items: QueueItems, list_starts: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, int]]:
    """Find each item's number within its list, or within its query and round, and the total number of items
    there.

    Items are numbered by position, so that a skipped item keeps its number.
    """

    def get_group(item: QueueItem) -> tuple[str, str]:
        return item.round_id, list_starts.get(item.presentation_id, item.query_id)

    ids_by_group: dict[tuple[str, str], list[str]] = {get_group(item): [] for item in items}
    for item in work.items:
        if get_group(item) in ids_by_group:
            ids_by_group[get_group(item)].append(item.presentation_id)
    numbers = []
    for item in items:
        group_ids = ids_by_group[get_group(item)]
        numbers.append((group_ids.index(item.presentation_id) + 1, len(group_ids)))
    return numbers


def _find_asking_ids(cursor: Cursor, author: str, work: UpcomingWork, items: QueueItems) -> set[str]:
    """Find the presentations on which the screen asks whether the corpus answers the query.

    Repeats count among the items of a query; otherwise a missing question would reveal the repeats.
    """
    last_ids = work.find_last_ids() if items else set()
    candidates = [item for item in items if item.presentation_id in last_ids]
    asking_items = []
    for item, (_, item_count) in zip(candidates, _number_items(work, candidates), strict=True):
        round_ = work.rounds[item.round_id]
        if round_.kind in ASKING_KINDS and 0 < round_.ask_from <= item_count:
            asking_items.append(item)
    if not asking_items:
        return set()
    query_ids = [item.query_id for item in asking_items]
    answered = set(cursor.execute(_ANSWERED_QUERIES, [author, query_ids]).fetchall())
    return {item.presentation_id for item in asking_items if (item.round_id, item.query_id) not in answered}
