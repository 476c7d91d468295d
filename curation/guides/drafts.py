"""Drafts of the labeling guide: a lead's next version of the guide, stored at each save, and the fields of
the guide's text for a form.

Each lead has one draft, which other leads can read. Each save is appended, so that a saved text is kept even
if a different window saves another text later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.guides.guide_text import read_values, replace_values, split_source
from curation.people.annotators import require_author
from curation.store import Cursor, Store, append_revision, fetch, record_event, utc_now

MAX_SOURCE_LENGTH = 200_000
"""Greatest number of characters in a guide's text."""
_OPEN_DRAFTS = """
SELECT author, revision, source, started_from, saved_at FROM guide_drafts
QUALIFY revision = max(revision) OVER (PARTITION BY author) AND source IS NOT NULL
ORDER BY author
"""
GradeEntry = dict[str, Any]
COLOURS = ("#a8323e", "#a04a08", "#8a5a00", "#2b62a8", "#1c6e45", "#5b4a9c", "#0f6b73", "#8a3a6e")
"""Colors for new grades; the contrast with white letters is at least 4.5:1."""


class GuideDraft(NamedTuple):
    """A lead's draft as it was saved last; `started_from` is the hash of the guide that was current when the
    draft was started.
    """

    author: str
    revision: int
    source: str
    started_from: str
    saved_at: datetime


@dataclass(frozen=True)
class GuideFields:
    """Fields of a labeling guide's text, for editing in a form.

    Attributes
    ----------
    grades: grades with all entries, in the order of the front matter.
    """

    title: str
    grades: tuple[GradeEntry, ...]
    body: str

    def with_grade(self, index: int, **entries: Any) -> GuideFields:
        """Return the fields of the guide with changed entries of one grade."""
        grades = list(self.grades)
        grades[index] = {**grades[index], **entries}
        return replace(self, grades=tuple(grades))

    def examples(self, index: int) -> list[dict[str, Any]]:
        """Return the worked examples of one grade."""
        return list(self.grades[index].get("examples") or [])

    def with_new_grade(self) -> GuideFields:
        """Return the fields with a new grade above the highest grade; the new grade still needs a name and a
        definition.
        """
        values = [int(grade["value"]) for grade in self.grades if str(grade.get("value", "")).isdigit()]
        value = max(values, default=-1) + 1
        used = {str(grade.get("colour", "")).lower() for grade in self.grades}
        colour = next((colour for colour in COLOURS if colour not in used), COLOURS[0])
        new = {"value": value, "name": "", "key": str(value % 10), "colour": colour, "definition": ""}
        return replace(self, grades=(*self.grades, new))

    def without_grade(self, index: int) -> GuideFields:
        """Return the fields of the guide without one grade."""
        return replace(self, grades=(*self.grades[:index], *self.grades[index + 1 :]))


def save_draft(store: Store, source: str, author: str, seen: int | None) -> GuideDraft:
    """Save the author's draft.

    Parameters
    ----------
    seen: revision of the draft that the author edited; None if the author had no draft.

    Raises
    ------
    InputError: the text is too long.
    RefusedError: a different window of the author has saved the draft since then, or the author is not a
    lead.
    """
    if len(source) > MAX_SOURCE_LENGTH:
        raise InputError(
            f"The guide has {pluralize(len(source), 'character')}; expected at most {MAX_SOURCE_LENGTH:,}. "
            "Shorten it."
        )
    with store.transaction(new_data_version=False) as cursor:
        require_author(cursor, author, "lead")
        draft = find_draft(cursor, author)
        if (draft and draft.revision) != seen:
            raise RefusedError(
                "Your draft was saved in another window. Load that draft, or save this text over it."
            )
        started = draft.started_from if draft else current_guide(cursor).guide_hash
        if draft is None:
            record_event(cursor, "start guide draft", {"guide": started}, author)
        return _append_revision(cursor, author, source, started)


def discard_draft(store: Store, author: str) -> None:
    """End the author's draft. The saved texts of the draft remain in the project.

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


def read_fields(source: str) -> GuideFields | None:
    """Return the fields of a guide's text; None if the front matter cannot be read as fields."""
    parts = split_source(source)
    values = read_values(parts[0]) if parts else None
    if parts is None or not isinstance(values, dict):
        return None
    scale = values.get("scale") or []
    if not isinstance(scale, list) or not all(_is_grade(entry) for entry in scale):
        return None
    return GuideFields(str(values.get("title") or ""), tuple(scale), parts[1].strip())


def write_fields(source: str, fields: GuideFields) -> str:
    """Write fields into a guide's text; all remaining entries of the front matter are unchanged."""
    return replace_values(source, {"title": fields.title, "scale": list(fields.grades)}, fields.body)


def _append_revision(cursor: Cursor, author: str, source: str | None, started_from: str) -> GuideDraft:
    now = utc_now()
    columns = {"source": source, "started_from": started_from, "saved_at": now}
    revision = append_revision(cursor, "guide_drafts", "author", author, **columns)
    return GuideDraft(author, revision, source or "", started_from, now)


def _is_grade(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    examples = value.get("examples")
    return examples is None or (isinstance(examples, list) and all(isinstance(x, dict) for x in examples))
