"""The annotator's queue: the items that come next on the screen.

Open items are unanswered items that were not reassigned, in rounds that are neither paused nor closed. A
practice round that is unfinished or not passed comes first. Items that the annotator skipped come last, but
can be answered earlier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from curation.core.text import percent
from curation.labeling.judging import read_evidence_marks
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, Hosts
from curation.labeling.rounds.practice import PracticeState, PracticeStatus
from curation.labeling.rounds.upcoming import QueueItem, UpcomingWork, compute_upcoming_work
from curation.labeling.session.cache import SessionCache, hold_session_cache
from curation.labeling.session.item_views import AnsweredItem, AnswerRow, ItemView, draw_answers, read_rows
from curation.store import Cursor, Store

MAX_SKIPPED = 50
_EVER_ASSIGNED = """
SELECT 1 FROM presentations p JOIN rounds r USING (round_id)
WHERE p.annotator = ? AND r.kind NOT IN ('practice', 'imported') LIMIT 1
"""
_NEW_ROUND = "New items appear here when a round includes you."
_FRESH_ANSWERS = """
WITH own AS (
    SELECT *, rowid AS written, presentation_id IN (SELECT unnest($list::TEXT[])) AS listed
    FROM judgment_events WHERE author = $who)
SELECT presentation_id, kind, grade, reason, note, flagged FROM own
WHERE listed AND written > (SELECT coalesce(max(written), -1) FROM own WHERE NOT listed)
QUALIFY row_number() OVER (PARTITION BY presentation_id ORDER BY revision DESC) = 1
"""


class AnnotatorQueue(NamedTuple):
    """An annotator's next items and progress, without facts that could bias the annotator, such as a round's
    name.

    Attributes
    ----------
    showings: the next open presentations, in order.
    done, total: the numbers of answered and of all presentations in the practice round that must be passed
        first, else in the annotator's rounds that are neither closed nor paused.
    message: the reason why there are no items, and what happens next; '' if there are items.
    answers_last_hour, median_seconds: the annotator's pace (`recent_answers.Pace`).
    practice: the practice round that must be passed first, else the practice round passed last.
    skipped: the number of open items that the annotator skipped.
    paused: whether the annotator has unanswered items in a paused round.
    listing: the answered items of the requested list; they have grades only while they are the annotator's
        latest answers.
    """

    showings: list[ItemView]
    done: int
    total: int
    message: str
    answers_last_hour: int
    median_seconds: float | None
    practice: PracticeState | None
    skipped: int = 0
    paused: bool = False
    listing: Sequence[AnsweredItem] = ()


def read_queue(
    store: Store,
    annotator: str,
    limit: int = 5,
    after: Sequence[str] = (),
    image_hosts: Hosts = NO_IMAGE_HOSTS,
    list_of: str | None = None,
) -> AnnotatorQueue:
    """Read the annotator's next open presentations, leaving out those already on screen (`after`).

    A list is never cut, so the result may have more than `limit` presentations.

    Parameters
    ----------
    list_of: id of a presentation. Its list's answered items are also read if the last answer is in that list;
        otherwise, and for '', the answered items of the next list are read. None reads no answered items.
    """
    on_screen = set(after)
    with hold_session_cache(store, annotator) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        practice_statuses = cache.read_practice(cursor)
        required_practice = _find_required_practice(cursor, cache)
        work = read_work(cursor, cache)
        upcoming = [item for item in work.open_items if item.presentation_id not in on_screen]
        items = _extend_to_whole_lists(upcoming, limit, work.find_list_starts())
        item_rows = read_rows(cursor, cache, work, items, upcoming)
        listing = [] if list_of is None else _read_listing(cursor, cache, work, list_of)
        pace = cache.compute_pace()
        is_over = not work.items and bool(cursor.execute(_EVER_ASSIGNED, [annotator]).fetchall())
    shown_practice = required_practice or next(reversed(practice_statuses), None)
    return AnnotatorQueue(
        showings=[row.draw(image_hosts) for row in item_rows],
        done=required_practice.state.answered if required_practice else work.answered,
        total=required_practice.state.total if required_practice else work.total,
        message="" if items or after else _explain_empty_queue(work, required_practice, is_over),
        answers_last_hour=pace.answers_last_hour,
        median_seconds=pace.median_seconds,
        practice=shown_practice.state if shown_practice else None,
        skipped=len(work.skipped_items),
        paused=bool(work.find_paused_rounds()),
        listing=draw_answers(listing, image_hosts),
    )


def read_work(cursor: Cursor, cache: SessionCache) -> UpcomingWork:
    """Compute the annotator's work: the practice round that must be passed first, otherwise all other
    rounds."""
    required = _find_required_practice(cursor, cache)
    return compute_upcoming_work(cache.rounds, cache.list_items(), required.round_id if required else None)


def read_skipped_items(store: Store, annotator: str, image_hosts: Hosts = NO_IMAGE_HOSTS) -> list[ItemView]:
    """Read the items that the annotator skipped, earliest skipped first, at most 50.

    A skipped item may be answered before further items of its query. So the screen asks about the query only
    if the item is the query's last open item.
    """
    with hold_session_cache(store, annotator) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        work = read_work(cursor, cache)
        items = work.skipped_items[:MAX_SKIPPED]
        item_rows = read_rows(cursor, cache, work, items, work.open_items)
    open_counts = Counter((item.round_id, item.query_id) for item in work.open_items)
    is_last_open = [open_counts[item.round_id, item.query_id] == 1 for item in items]
    views = [row.draw(image_hosts) for row in item_rows]
    return [
        view._replace(asks_about_query=view.asks_about_query and is_last)
        for view, is_last in zip(views, is_last_open, strict=True)
    ]


def _extend_to_whole_lists(upcoming: list[QueueItem], limit: int, lists: dict[str, str]) -> list[QueueItem]:
    """Return the first `limit` upcoming items, extended to the end of the last item's list."""
    end = min(limit, len(upcoming))
    last_list = lists.get(upcoming[end - 1].presentation_id) if end else None
    while last_list and end < len(upcoming) and lists.get(upcoming[end].presentation_id) == last_list:
        end += 1
    return upcoming[:end]


def _read_listing(cursor: Cursor, cache: SessionCache, work: UpcomingWork, list_of: str) -> list[AnswerRow]:
    """Read the answered items of the document list that is on screen.

    The answers are included only while they are the annotator's last answers. Otherwise an annotator could
    reopen a list later, notice that a pair in a different list is a repeat, and see its earlier grade.
    """
    list_starts, unlisted_ids = work.find_list_starts(), work.find_unlisted_ids()
    answered_items = [item for item in work.items if item.answer_number is not None]
    last_answered = max(answered_items, key=lambda item: item.answer_number or 0, default=None)
    list_id = list_starts.get(list_of)
    if last_answered is None or list_id is None or list_starts.get(last_answered.presentation_id) != list_id:
        list_id = next((list_starts.get(item.presentation_id) for item in work.open_items), None)
    ids = {item_id for item_id, list_start in list_starts.items() if list_start == list_id} - unlisted_ids
    items = [item for item in answered_items if item.presentation_id in ids]
    parameters = {"who": cache.annotator, "list": sorted(ids)}
    fresh_rows = cursor.execute(_FRESH_ANSWERS, parameters).fetchall() if items else []
    answers = {row[0]: dict(zip(AnsweredItem._fields[1:], row[1:], strict=False)) for row in fresh_rows}
    rows = read_rows(cursor, cache, work, items, work.open_items)
    marks = read_evidence_marks(cursor, list(answers))
    item_ids = [row.presentation_id for row in rows]
    fields = [{**answers.get(item_id, {}), "evidence": marks.get(item_id, ())} for item_id in item_ids]
    return list(zip(rows, fields, strict=True))


def _find_required_practice(cursor: Cursor, cache: SessionCache) -> PracticeStatus | None:
    """Find the practice round that the annotator has to pass before all other work."""
    return next((status for status in cache.read_practice(cursor) if status.open), None)


def _explain_empty_queue(work: UpcomingWork, practice: PracticeStatus | None, is_over: bool) -> str:
    if practice is not None and not practice.paused:
        state = practice.state
        return (
            f"You gave the expected grade {state.right} of {state.total} times; to pass, you need "
            f"{percent(state.pass_mark)}. Read the guide again. The lead decides whether you practice "
            "again or go on. Then new items appear here."
        )
    if is_over:
        return f"The lead has closed your round. Your answers are kept. {_NEW_ROUND}"
    if not work.items:
        return f"You have no items yet. {_NEW_ROUND}"
    if work.find_paused_rounds():
        return (
            "The lead has paused the round. Your answers are kept, and your items come back when the "
            "lead resumes it."
        )
    return "You have answered all your items. Thank you! New items come with the next round."
