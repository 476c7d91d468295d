"""The annotator's queue: what is shown next, and all that a screen may know about it.

`Showing` is blind by construction: it has no rank, score, system, duplicate mark, split or other
person's grade, and its id is a hash that carries none of them. Nothing else about a presentation
leaves the server.

Open items are those of rounds that are neither paused nor closed, less what was reassigned. A practice round
that is unfinished or not passed comes before everything else.

What an annotator has put off: it comes back after all else, and can be taken up before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from curation.errors import NotFoundError
from curation.filters.stored import NEED
from curation.guides.guide import Guide, guide_by_hash
from curation.labeling.judgments.judging import ASKED_IN, marks_of
from curation.labeling.practice.status import PracticeState, PracticeStatus
from curation.labeling.rounds.upcoming import OpenRound, QueueItem, UpcomingWork, upcoming_work
from curation.labeling.session.cache import SessionCache, Text, matched_passages, recent, session_cache
from curation.presentation.drawing import NOBODY, ReadDocument, draw, whole_passage
from curation.presentation.excerpts import Segment
from curation.presentation.markup import Fact, Node
from curation.spans import Spans
from curation.store import Cursor, Store, utc_now
from curation.store.documents import VERSION
from curation.text import percent


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


class Queue(NamedTuple):
    """What comes next for one annotator: all that a screen may know, so not even the name of a round.

    Attributes
    ----------
    showings: the next open presentations, in order.
    done, total: presentations answered, and all of them: of the practice round while one has to be passed
        first, else of the annotator's rounds that are neither closed nor paused.
    message: why there is nothing to show and what comes next, or ''.
    hour: answers in the last 60 minutes.
    seconds_each: median seconds on screen over the last 50 answers; None below 5.
    practice: the practice round that has to be passed first, else the one passed last, if any.
    put_off: how many open items the annotator has put off.
    paused: something is left to answer in a paused round.
    listing: what is answered in the list that was asked for; the answers only where nothing else was answered
        since.
    """

    showings: list[Showing]
    done: int
    total: int
    message: str
    hour: int
    seconds_each: float | None
    practice: PracticeState | None
    put_off: int = 0
    paused: bool = False
    listing: Sequence[Answered] = ()


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


def next_showings(
    store: Store,
    annotator: str,
    limit: int = 5,
    after: Sequence[str] = (),
    image_hosts: frozenset[str] = NOBODY,
    list_of: str | None = None,
) -> Queue:
    """The annotator's next open presentations, without those that the screen has already (`after`).

    A list is never cut: there may be more than `limit`.

    Parameters
    ----------
    list_of: the listing is that of this presentation's list if the last answer is in it, else of the list
        that comes next, as it is with ''; None gives no listing.
    """
    on_screen = set(after)
    with session_cache(store, annotator) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        practice = cache.practice_statuses(cursor)
        first = next((status for status in practice if status.open), None)
        work = work_of(cursor, cache)
        upcoming = [item for item in work.open if item.presentation_id not in on_screen]
        items = _whole_lists(upcoming, limit, work.lists())
        found = read_showings(cursor, cache, work, items, upcoming)
        listing = [] if list_of is None else _listing(cursor, cache, work, list_of)
        hour, seconds_each = cache.pace()
        over = not work.items and bool(cursor.execute(_WORKED, [annotator]).fetchall())
    return Queue(
        showings=[one.drawn(image_hosts) for one in found],
        done=first.state.answered if first else work.answered,
        total=first.state.total if first else work.total,
        message="" if items or after else _why_empty(work, first, over),
        hour=hour,
        seconds_each=seconds_each,
        practice=first.state if first else practice[-1].state if practice else None,
        put_off=len(work.put_off),
        paused=bool(work.paused_rounds()),
        listing=[one.drawn(image_hosts) for one in listing],
    )


def _whole_lists(upcoming: list[QueueItem], limit: int, lists: dict[str, str]) -> list[QueueItem]:
    """The first items, and what else is in the list of the last."""
    end = min(limit, len(upcoming))
    last = lists.get(upcoming[end - 1].presentation_id) if end else None
    while last and end < len(upcoming) and lists.get(upcoming[end].presentation_id) == last:
        end += 1
    return upcoming[:end]


def _listing(cursor: Cursor, cache: SessionCache, work: UpcomingWork, list_of: str) -> list[FoundAnswer]:
    """What is answered in a list.

    Only of the list that is on screen, and the answers only while they are the annotator's last: a list that
    could be looked up later would tell which pair of another list is a repeat, and how it was graded before.
    """
    lists, alone = work.lists(), work.alone()
    done = [item for item in work.items if item.answered is not None]
    last = max(done, key=lambda item: item.answered or 0, default=None)
    wanted = lists.get(list_of)
    if last is None or wanted is None or lists.get(last.presentation_id) != wanted:
        wanted = next((lists.get(item.presentation_id) for item in work.open), None)
    ids = {name for name, first in lists.items() if first == wanted} - alone
    items = [item for item in done if item.presentation_id in ids]
    fresh = cursor.execute(_FRESH, {"who": cache.annotator, "list": sorted(ids)}).fetchall() if items else []
    answers = {row[0]: row[1:] for row in fresh}
    found, marks = read_showings(cursor, cache, work, items, work.open), marks_of(cursor, list(answers))
    said = ((answers.get(one.presentation_id, ()), marks.get(one.presentation_id, ())) for one in found)
    return [FoundAnswer(one, *both) for one, both in zip(found, said, strict=True)]


def work_of(cursor: Cursor, cache: SessionCache) -> UpcomingWork:
    """The annotator's work: a practice round that has to be passed first, else all others."""
    first = next((status for status in cache.practice_statuses(cursor) if status.open), None)
    return upcoming_work(cache.rounds, cache.items(), first.round_id if first else None)


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


def pace(cursor: Cursor, annotator: str) -> tuple[int, float | None]:
    """Answers in the last 60 minutes, and the median seconds of the last ones, None below 5."""
    return recent(cursor, annotator).pace(utc_now())


def previous_answered(store: Store, annotator: str, image_hosts: frozenset[str] = NOBODY) -> Answered | None:
    """The presentation that the annotator answered last, or None: what undo takes back.

    Taken back it is open, so the answer is withheld. Note and flag are there, to be sent once more.
    """
    with store.reading() as cursor:
        found = read_answered(cursor, _LAST, [annotator])
    return found[0].drawn(image_hosts)._replace(kind=None, grade=None, reason=None) if found else None


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


def _why_empty(work: UpcomingWork, practice: PracticeStatus | None, over: bool) -> str:
    if practice is not None and not practice.paused:
        state = practice.state
        return (
            f"You gave the expected grade {state.right} times of {state.total}; to pass, "
            f"{percent(state.pass_mark)} is needed. Read the guide once more. The lead sees this and decides "
            "whether you practise again or go on; either way this page fills by itself."
        )
    if over:
        return (
            "The lead has closed what you worked on; your answers are kept. Once a round is opened with you "
            "in it, this page fills by itself."
        )
    if not work.items:
        return "No round has items for you yet. Once one is opened with you in it, this page fills by itself."
    if work.paused_rounds():
        return (
            "The lead has paused this work. Your answers are kept; when it goes on, this page fills by "
            "itself."
        )
    return "You have answered every item that was given to you. Thank you; the next round brings new ones."


_WORKED = """
SELECT 1 FROM presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind NOT IN ('practice', 'imported') LIMIT 1
"""

_FRESH = """
WITH own AS (
    SELECT *, rowid AS written, presentation_id IN (SELECT unnest($list::TEXT[])) AS listed
    FROM judgment_events WHERE author = $who)
SELECT presentation_id, kind, grade, reason, note, flagged FROM own
WHERE listed AND written > (SELECT coalesce(max(written), -1) FROM own WHERE NOT listed)
QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision DESC) = 1
"""

_SAID = """
SELECT DISTINCT round_id, query_id FROM query_answers
WHERE annotator = ? AND query_id IN (SELECT unnest(?::TEXT[]))
"""

_OWN = f"""
SELECT q.text, d.title, d.body, d.url, d.published, d.metadata, r.guide_hash
FROM presentations p JOIN round_states r USING (round_id) JOIN queries q USING (query_id) JOIN {VERSION}
WHERE p.presentation_id = ? AND p.annotator = ?
"""  # noqa: S608

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


MOST_LISTED = 50


def put_off_showings(store: Store, annotator: str, image_hosts: frozenset[str] = NOBODY) -> list[Showing]:
    """Those that were put off first, 50 at most.

    One that is taken up is answered before the others of its query, so it asks about the query only where it
    is the last that is left.
    """
    with session_cache(store, annotator) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        work = work_of(cursor, cache)
        items = work.put_off[:MOST_LISTED]
        found = read_showings(cursor, cache, work, items, work.open)
    left = Counter((item.round_id, item.query_id) for item in work.open)
    alone = [left[item.round_id, item.query_id] == 1 for item in items]
    shown = [one.drawn(image_hosts) for one in found]
    return [one._replace(asks=one.asks and last) for one, last in zip(shown, alone, strict=True)]
