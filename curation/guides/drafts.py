"""Drafts: the next guide while a lead writes it, kept in the project at each save.

Each lead has a draft of their own, which others can read. Saves are appended, so that what another window
wrote over is still there.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import amount
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.store import Cursor, Store, fetch, record_event, utc_now

LONGEST_SOURCE = 200_000
"""Characters of a guide's text."""


class GuideDraft(NamedTuple):
    """A lead's draft as it was saved last; `started_from` is the hash of the guide that was in force then."""

    author: str
    revision: int
    source: str
    started_from: str
    saved_at: datetime


def save_draft(store: Store, source: str, author: str, seen: int | None) -> GuideDraft:
    """Save the author's draft.

    Parameters
    ----------
    seen: the revision that it was written over; None where there was no draft.

    Raises
    ------
    InputError: the text is too long.
    RefusedError: another window of the author's has saved meanwhile; or the author is no lead.
    """
    if len(source) > LONGEST_SOURCE:
        said = (
            f"The guide has {amount(len(source), 'character')}; expected at most {LONGEST_SOURCE:,}. "
            "Shorten it."
        )
        raise InputError(said)
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        held = own_draft(cursor, author)
        if (held and held.revision) != seen:
            raise RefusedError(
                "Your draft was saved in another window meanwhile. Load it, or save this text over it."
            )
        started = held.started_from if held else current_guide(cursor).guide_hash
        if held is None:
            record_event(cursor, "start guide draft", {"guide": started}, author)
        _append(cursor, author, source, started)
        saved = own_draft(cursor, author)
    assert saved is not None
    return saved


def discard_draft(store: Store, author: str) -> None:
    """End the author's draft; what was saved remains in the project.

    Raises
    ------
    NotFoundError: there is none.
    RefusedError: the author is no lead.
    """
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        if own_draft(cursor, author) is None:
            raise NotFoundError("You have no draft of the guide.")
        end_draft(cursor, author)
        record_event(cursor, "discard guide draft", {}, author)


def end_draft(cursor: Cursor, author: str) -> None:
    """End the author's draft, if there is one, in the caller's transaction."""
    held = own_draft(cursor, author)
    if held is not None:
        _append(cursor, author, None, held.started_from)


def own_draft(cursor: Cursor, author: str) -> GuideDraft | None:
    """The author's draft, if there is one."""
    return next((draft for draft in open_drafts(cursor) if draft.author == author), None)


_OPEN = """
SELECT author, revision, source, started_from, saved_at FROM guide_drafts
QUALIFY revision = max(revision) OVER (PARTITION BY author) AND source IS NOT NULL
ORDER BY author
"""


def open_drafts(cursor: Cursor) -> list[GuideDraft]:
    """The drafts of all leads, by name."""
    return fetch(cursor, GuideDraft, _OPEN)


def _append(cursor: Cursor, author: str, source: str | None, started_from: str) -> None:
    cursor.execute(
        """
        INSERT INTO guide_drafts
        SELECT $author, coalesce(max(revision) + 1, 0), $source, $started, $now
        FROM guide_drafts WHERE author = $author
        """,
        {"author": author, "source": source, "started": started_from, "now": utc_now()},
    )
