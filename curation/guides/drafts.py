"""Drafts of the labeling guide: a lead's next version of the guide, stored at every save.

Each lead has one draft, which other leads can read. Each save is appended, so that a saved text is kept even
if a different window saves another text later.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.store import Cursor, Store, append_revision, fetch, record_event, utc_now

MAX_SOURCE_LENGTH = 200_000
"""Greatest number of characters in a guide's text."""
_OPEN_DRAFTS = """
SELECT author, revision, source, started_from, saved_at FROM guide_drafts
QUALIFY revision = max(revision) OVER (PARTITION BY author) AND source IS NOT NULL
ORDER BY author
"""


class GuideDraft(NamedTuple):
    """A lead's draft as last saved; `started_from` is the hash of the guide that was current when the draft
    began."""

    author: str
    revision: int
    source: str
    started_from: str
    saved_at: datetime


def save_draft(store: Store, source: str, author: str, seen_revision: int | None) -> GuideDraft:
    """Save the text of an author's draft of the guide as its next revision.

    Parameters
    ----------
    seen_revision: revision of the draft that the author edited; None if the author had no draft.

    Raises
    ------
    InputError: the text is too long.
    RefusedError: a different window of the author has saved the draft since then, or the author is not a
    lead.
    """
    if len(source) > MAX_SOURCE_LENGTH:
        length = pluralize(len(source), "character")
        raise InputError(f"The guide has {length}; expected at most {MAX_SOURCE_LENGTH:,}. Shorten it.")
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        draft = find_draft(cursor, author)
        if (draft and draft.revision) != seen_revision:
            raise RefusedError("You saved this draft in another window. Load that version, or overwrite it.")
        started_from = draft.started_from if draft else current_guide(cursor).guide_hash
        if draft is None:
            record_event(cursor, "start guide draft", {"guide": started_from}, author)
        return _append_revision(cursor, author, source, started_from)


def discard_draft(store: Store, author: str) -> None:
    """End the author's draft. Its saved texts remain in the project.

    Raises
    ------
    NotFoundError: the author has no draft.
    RefusedError: the author is not a lead.
    """
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        if find_draft(cursor, author) is None:
            raise NotFoundError("You have no draft of the guide.")
        end_draft(cursor, author)
        record_event(cursor, "discard guide draft", {}, author)


def end_draft(cursor: Cursor, author: str) -> None:
    """End the author's draft, if any, in the caller's transaction."""
    draft = find_draft(cursor, author)
    if draft is not None:
        _append_revision(cursor, author, None, draft.started_from)


def find_draft(cursor: Cursor, author: str) -> GuideDraft | None:
    """Return the author's draft; None if the author has no draft."""
    return next((draft for draft in list_drafts(cursor) if draft.author == author), None)


def list_drafts(cursor: Cursor) -> list[GuideDraft]:
    """Return the drafts of all leads, by the lead's name."""
    return fetch(cursor, GuideDraft, _OPEN_DRAFTS)


def _append_revision(cursor: Cursor, author: str, source: str | None, started_from: str) -> GuideDraft:
    now = utc_now()
    columns = {"source": source, "started_from": started_from, "saved_at": now}
    revision = append_revision(cursor, "guide_drafts", "author", author, **columns)
    return GuideDraft(author, revision, source or "", started_from, now)
