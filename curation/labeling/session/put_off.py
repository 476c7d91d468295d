"""What an annotator has put off: it comes back after all else, and can be taken up before."""

from __future__ import annotations

from collections import Counter

from curation.labeling.rounds.upcoming import QueueItem
from curation.labeling.session.cache import session_cache
from curation.labeling.session.documents.drawing import NOBODY
from curation.labeling.session.showings import Showing, read_showings, work_of
from curation.store import Store

MOST_LISTED = 50


def put_off_items(store: Store, annotator: str) -> list[QueueItem]:
    """The open items that the annotator has put off, in the order in which they were."""
    with session_cache(store, annotator) as cache, store.reading() as cursor:
        cache.read(cursor, store.data_version)
        return work_of(cursor, cache).put_off


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
