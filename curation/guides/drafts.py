"""Drafts: the next guide while a lead writes it, kept at each save, and the fields of its text for a form.

Each lead has a draft of their own, which others can read. Saves are appended, so that what another window
wrote over is still there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.guides.guide_text import read_values, split_source, with_values
from curation.people.annotators import require_author
from curation.store import Cursor, Store, append_revision, fetch, record_event, utc_now

MAX_SOURCE_LENGTH = 200_000
"""Characters of a guide's text."""
_OPEN = """
SELECT author, revision, source, started_from, saved_at FROM guide_drafts
QUALIFY revision = max(revision) OVER (PARTITION BY author) AND source IS NOT NULL
ORDER BY author
"""
GradeEntry = dict[str, Any]
COLOURS = ("#a8323e", "#a04a08", "#8a5a00", "#2b62a8", "#1c6e45", "#5b4a9c", "#0f6b73", "#8a3a6e")
"""Colours for new grades, each with white letters at least 4.5:1."""


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
    seen: the revision that it was written over; None if there was no draft.

    Raises
    ------
    InputError: the text is too long.
    RefusedError: another window of the author's has saved meanwhile; or the author is no lead.
    """
    if len(source) > MAX_SOURCE_LENGTH:
        raise InputError(
            f"The guide has {pluralize(len(source), 'character')}; expected at most {MAX_SOURCE_LENGTH:,}. "
            "Shorten it."
        )
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        draft = own_draft(cursor, author)
        if (draft and draft.revision) != seen:
            raise RefusedError(
                "Your draft was saved in another window meanwhile. Load it, or save this text over it."
            )
        started = draft.started_from if draft else current_guide(cursor).guide_hash
        if draft is None:
            record_event(cursor, "start guide draft", {"guide": started}, author)
        _append(cursor, author, source, started)
        saved = own_draft(cursor, author)
    assert saved is not None
    return saved


def discard_draft(store: Store, author: str) -> None:
    """End the author's draft; what was saved remains in the project.

    Raises
    ------
    NotFoundError: it does not exist.
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
    draft = own_draft(cursor, author)
    if draft is not None:
        _append(cursor, author, None, draft.started_from)


def own_draft(cursor: Cursor, author: str) -> GuideDraft | None:
    """The author's draft, if there is one."""
    return next((draft for draft in open_drafts(cursor) if draft.author == author), None)


def open_drafts(cursor: Cursor) -> list[GuideDraft]:
    """The drafts of all leads, by name."""
    return fetch(cursor, GuideDraft, _OPEN)


def _append(cursor: Cursor, author: str, source: str | None, started_from: str) -> None:
    columns = {"source": source, "started_from": started_from, "saved_at": utc_now()}
    append_revision(cursor, "guide_drafts", "author", author, **columns)


@dataclass(frozen=True)
class GuideFields:
    """What a form shows of a guide's text.

    Attributes
    ----------
    grades: as the front matter has them, from the lowest to the highest, with all their entries.
    """

    title: str
    grades: tuple[GradeEntry, ...]
    body: str

    def with_grade(self, index: int, **entries: Any) -> GuideFields:
        """The fields with other entries of one grade."""
        grades = list(self.grades)
        grades[index] = {**grades[index], **entries}
        return replace(self, grades=tuple(grades))

    def examples(self, index: int) -> list[dict[str, Any]]:
        """The worked examples of one grade."""
        return list(self.grades[index].get("examples") or [])

    def with_new_grade(self) -> GuideFields:
        """The fields with one more grade at the upper end, which still needs its words."""
        values = [int(grade["value"]) for grade in self.grades if str(grade.get("value", "")).isdigit()]
        value = max(values, default=-1) + 1
        colour = next(
            (colour_left for colour_left in COLOURS if colour_left not in self._colours), COLOURS[0]
        )
        new = {"value": value, "name": "", "key": str(value % 10), "colour": colour, "definition": ""}
        return replace(self, grades=(*self.grades, new))

    def without_grade(self, index: int) -> GuideFields:
        return replace(self, grades=(*self.grades[:index], *self.grades[index + 1 :]))

    @property
    def _colours(self) -> set[str]:
        return {str(grade.get("colour", "")).lower() for grade in self.grades}


def read_fields(source: str) -> GuideFields | None:
    """The fields of a text; None if its front matter cannot be read as such."""
    parts = split_source(source)
    values = read_values(parts[0]) if parts else None
    if parts is None or not isinstance(values, dict):
        return None
    scale = values.get("scale") or []
    if not isinstance(scale, list) or not all(_is_grade(entry) for entry in scale):
        return None
    return GuideFields(str(values.get("title") or ""), tuple(scale), parts[1].strip())


def write_fields(source: str, fields: GuideFields) -> str:
    """The text with these fields; entries of its front matter that are no field stay as they are."""
    return with_values(source, {"title": fields.title, "scale": list(fields.grades)}, fields.body)


def _is_grade(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(example, dict) for example in _list(value.get("examples"))
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]
