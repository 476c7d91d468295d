"""Item views: all that an annotator's screen may read of a presentation, drawn after the file was let go.

`Showing` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError
from curation.core.spans import Spans
from curation.guides.guide import Guide, guide_by_hash
from curation.ingest.filters.stored import NEED
from curation.labeling.judgments.events import marks_of
from curation.labeling.judgments.query_answers import ASKED_IN
from curation.labeling.presentation.drawing import NOBODY, ReadDocument, draw, whole_passage
from curation.labeling.presentation.elements import Fact, Node
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.rounds.upcoming import OpenRound, QueueItem, UpcomingWork
from curation.labeling.session.cache import SessionCache
from curation.labeling.session.matched_passages import matched_passages
from curation.labeling.session.texts import Text
from curation.store import Cursor, Store
from curation.store.documents import VERSION


class Showing(NamedTuple):
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


class Answered(NamedTuple):
    """A showing that its annotator has answered, with the answer where it may be seen.

    Attributes
    ----------
    kind: 'grade' or 'cannot_tell'; None where the answer is withheld, and the grade and reason with it.
    changed: answered more than once; named in the history only.
    guide_hash: the guide under which the answer was given, which may be older than that of the showing; named
        in the history only.
    evidence: what was marked, also where the answer was taken back, as characters of the document's body.
    """

    showing: Showing
    kind: str | None = None
    grade: int | None = None
    reason: str | None = None
    note: str | None = None
    flagged: bool = False
    changed: bool = False
    guide_hash: str | None = None
    evidence: Spans = ()


class FoundShowing(NamedTuple):
    """What a `Showing` is drawn from: drawing takes long, so the file is let go first."""

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

    def drawn(self, image_hosts: frozenset[str]) -> Showing:
        """What the screen may read of it."""
        query, information_need, document, matched = self.text
        guide, marked = self.guide, self.guide.evidence is not None
        shown = draw(
            document, query, guide.presentation, matched=matched, image_hosts=image_hosts, markable=marked
        )
        return Showing(
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


class FoundAnswer(NamedTuple):
    """An answered showing as it was found, before it is drawn; `answer` is what follows it in `Answered`."""

    showing: FoundShowing
    answer: tuple[Any, ...]
    evidence: Spans = ()

    def drawn(self, image_hosts: frozenset[str]) -> Answered:
        """What the screen may read of it."""
        return Answered(self.showing.drawn(image_hosts), *self.answer)._replace(evidence=self.evidence)


def read_showings(
    cursor: Cursor,
    cache: SessionCache,
    work: UpcomingWork,
    items: Sequence[QueueItem],
    upcoming: Sequence[QueueItem],
) -> list[FoundShowing]:
    """Some of the annotator's open items, to be drawn after the lease; texts of `upcoming` are read along."""
    asked = _asked(cursor, cache.annotator, work, items)
    lists = work.lists()
    alone = work.alone() if lists else set()
    texts, places = cache.texts(cursor, items, upcoming), _places(work, items, lists)
    found = []
    for item, text, (place, of) in zip(items, texts, places, strict=True):
        round_ = work.rounds[item.round_id]
        about = (cache.guides[round_.guide_hash], round_.kind, item.presentation_id in asked)
        list_id = "" if item.presentation_id in alone else lists.get(item.presentation_id, "")
        showing = FoundShowing(item.presentation_id, item.revision, text, *about)
        late = item.put_off is not None
        found.append(showing._replace(place=place, of=of, put_off=late, list_id=list_id))
    return found


def _places(
    work: UpcomingWork, items: Sequence[QueueItem], lists: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, int]]:
    """For each item which of those of its list it is, or of its query and round, and how many there are.

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
    """Of these items those on which to ask whether the corpus answers the query."""
    lasts = work.lasts() if items else set()
    ending = [item for item in items if item.presentation_id in lasts]
    last_items = [
        item
        for item, (_, of) in zip(ending, _places(work, ending), strict=True)
        if _asks(work.rounds[item.round_id], of)
    ]
    if not last_items:
        return set()
    said = set(cursor.execute(_SAID, [annotator, [item.query_id for item in last_items]]).fetchall())
    return {item.presentation_id for item in last_items if (item.round_id, item.query_id) not in said}


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


def previous_answered(store: Store, annotator: str, image_hosts: frozenset[str] = NOBODY) -> Answered | None:
    """The presentation that the annotator answered last, or None: what undo takes back.

    Taken back it is open, so the answer is withheld. Note and flag are there, to be sent once more.
    """
    with store.reading() as cursor:
        answered = read_answered(cursor, _LAST, [annotator])
    return answered[0].drawn(image_hosts)._replace(kind=None, grade=None, reason=None) if answered else None


def read_answered(cursor: Cursor, sql: str, parameters: list[str] | dict[str, Any]) -> list[FoundAnswer]:
    """The rows of a query: presentation, next revision, query, information need, those of `ReadDocument`,
    guide, kind and asks, and then the columns of `Answered` after `showing`.
    """
    rows = cursor.execute(sql, parameters).fetchall()
    ids = [row[0] for row in rows]
    matched, marks = matched_passages(cursor, ids), marks_of(cursor, ids)
    guides = {name: guide_by_hash(cursor, name) for name in {row[9] for row in rows}}
    found = []
    for row in rows:
        text = Text(row[2], row[3], ReadDocument(*row[4:9]), matched.get(row[0]))
        guide_hash, kind, asks = row[9:12]
        showing = FoundShowing(row[0], row[1], text, guides[guide_hash], kind, asks)
        is_shown = row[12] is not None  # an answer that is withheld withholds its marks
        found.append(FoundAnswer(showing, row[12:], marks.get(row[0], ()) if is_shown else ()))
    return found


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
