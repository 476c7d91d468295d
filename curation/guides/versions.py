"""Versions of the guide: every text that was in force, since when, by whom, and what was judged under it.

What changes between two guides: grades added, removed, renamed, redefined; the text word by word.

Drafts: the next guide while a lead writes it, kept in the project at each save.

Each lead has a draft of their own, which others can read. Saves are appended, so that what another window
wrote over is still there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.errors import InputError, NotFoundError, RefusedError
from curation.guides.front_matter import read_values, split_source, with_values
from curation.guides.guide import (
    Grade,
    Guide,
    PresentationTemplate,
    current_guide,
    guide_by_hash,
    parse_guide,
)
from curation.people.annotators import require_author
from curation.reports.page import Table
from curation.similarity.text_blocks import TextBlock, word_blocks
from curation.store import Cursor, Store, fetch, record_event, utc_now
from curation.text import amount

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
    return next((one for one in open_drafts(cursor) if one.author == author), None)


def open_drafts(cursor: Cursor) -> list[GuideDraft]:
    """The drafts of all leads, by name."""
    return fetch(cursor, GuideDraft, _OPEN)


def source_of(guide: Guide) -> str:
    """The whole text of a guide, written from its parts where the project stored it without one."""
    if guide.source:
        return guide.source
    blank = "---\ntitle: ''\n---\n"
    scale = [grade.model_dump(exclude_defaults=True) for grade in guide.scale]
    for grade in scale:
        if "examples" in grade:
            grade["examples"] = list(grade["examples"])
    return with_values(blank, {"title": guide.title, "scale": scale}, guide.body)


def with_presentation(guide: Guide, template: PresentationTemplate) -> Guide:
    """The guide with another presentation of documents; all else of its text stays as it is."""
    return parse_guide(presented(source_of(guide), template))


def presented(source: str, template: PresentationTemplate) -> str:
    """A guide's text with another presentation of documents."""
    parts = split_source(source)
    values = {"presentation": template.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
    return with_values(source, values, parts.body if parts else "")


def _append(cursor: Cursor, author: str, source: str | None, started_from: str) -> None:
    cursor.execute(
        """
        INSERT INTO guide_drafts
        SELECT $author, coalesce(max(revision) + 1, 0), $source, $started, $now
        FROM guide_drafts WHERE author = $author
        """,
        {"author": author, "source": source, "started": started_from, "now": utc_now()},
    )


_OPEN = """
SELECT author, revision, source, started_from, saved_at FROM guide_drafts
QUALIFY revision = max(revision) OVER (PARTITION BY author) AND source IS NOT NULL
ORDER BY author
"""


SHORT = 8
"""Characters of a hash that name a version on screen."""


class GuideVersion(NamedTuple):
    """A stored guide.

    Attributes
    ----------
    since, by, reason: of when it was put in force last; None and '' where no record says so.
    answers: judgments that were given under it, those taken back left out.
    rounds: the rounds that use it now and are not closed.
    """

    guide_hash: str
    title: str
    in_force: bool
    since: datetime | None
    by: str | None
    reason: str
    answers: int
    rounds: list[str]


def guide_versions(cursor: Cursor) -> list[GuideVersion]:
    """All versions: the one in force first, then those put in force last."""
    return fetch(cursor, GuideVersion, _VERSIONS)


def find_version(cursor: Cursor, name: str) -> Guide:
    """The guide whose hash begins so.

    Raises
    ------
    InputError: several begin so.
    NotFoundError: none does.
    """
    found = [one for one in guide_versions(cursor) if name and one.guide_hash.startswith(name.lower())]
    if not found:
        raise NotFoundError(
            f"The project has no guide {name!r}.", command="goldset guide versions lists them."
        )
    if len(found) > 1:
        names = ", ".join(one.guide_hash[: len(name) + 4] for one in found)
        raise InputError(f"{name!r} begins several guides: {names}. Give more of it.")
    return guide_by_hash(cursor, found[0].guide_hash)


_VERSIONS = """
WITH used AS (
    SELECT detail->>'guide' AS guide_hash, happened_at, actor, coalesce(detail->>'reason', '') AS reason,
           rowid AS written
    FROM events WHERE action IN ('init', 'use guide')
)
SELECT g.guide_hash, g.title, g.guide_hash = (SELECT value FROM settings WHERE name = 'guide') AS in_force,
       u.happened_at, u.actor, coalesce(u.reason, ''),
       (SELECT count(*) FROM current_judgments j WHERE j.guide_hash = g.guide_hash),
       (SELECT coalesce(list(r.name ORDER BY r.sequence), []) FROM round_states r
        WHERE r.guide_hash = g.guide_hash AND NOT r.closed AND r.kind <> 'imported')
FROM guides g
LEFT JOIN (FROM used QUALIFY row_number() OVER (PARTITION BY guide_hash ORDER BY written DESC) = 1) u
  USING (guide_hash)
ORDER BY in_force DESC, u.written DESC NULLS LAST, g.rowid DESC
"""


_WORDS = re.compile(r"\S+|\n+")
_SOFT = re.compile(r"(?<!\n)\n[ \t]*(?![\n#|>*\-\d])")
"""The end of a line within a paragraph of Markdown."""
_CONTEXT = 20
"""Words next to a change that are shown of what stays."""
_SUMMARIES = {"name": "renamed", "definition": "redefined", "key": "another key", "colour": "another colour",
         "examples": "other examples"}  # fmt: skip


@dataclass(frozen=True)
class GradeChange:
    """A grade of one value in two guides; None where a guide does not have it.

    changed: the entries that differ, of name, definition, key, colour, examples.
    """

    value: int
    before: Grade | None
    after: Grade | None
    changed: tuple[str, ...]

    @property
    def kind(self) -> str:
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        return "changed" if self.changed else "same"

    @property
    def summary(self) -> str:
        """What became of it, in a few words."""
        if self.kind != "changed":
            return self.kind
        return ", ".join(_SUMMARIES[entry] for entry in self.changed)


@dataclass(frozen=True)
class GuideDifference:
    """Two guides side by side.

    Attributes
    ----------
    grades: every grade that one of them has, from the lowest.
    body: runs of words, in the order of the text.
    other: names of front-matter entries besides title and scale whose values differ.
    """

    before: Guide
    after: Guide
    grades: tuple[GradeChange, ...]
    body: tuple[TextBlock, ...]
    other: tuple[str, ...]

    @property
    def same(self) -> bool:
        return self.before.guide_hash == self.after.guide_hash

    @property
    def changed_grades(self) -> tuple[GradeChange, ...]:
        return tuple(one for one in self.grades if one.kind != "same")

    @property
    def body_changes(self) -> tuple[int, int]:
        """Words removed from the text, and words added to it."""
        removed, added = (
            sum(len(block.text.split()) for block in self.body if block.kind == kind)
            for kind in ("removed", "added")
        )
        return removed, added

    @property
    def changed_body(self) -> tuple[TextBlock, ...]:
        """The changes of the text with some words around them; an ellipsis is in the place of the others."""
        last = len(self.body) - 1
        return tuple(
            _shortened(block, place > 0, place < last) if block.kind == "same" else block
            for place, block in enumerate(self.body)
        )

    @property
    def summary(self) -> list[str]:
        """A sentence for each thing that changes; one where nothing does."""
        said = []
        if self.before.title != self.after.title:
            said.append(f"The title changes from “{self.before.title}” to “{self.after.title}”.")
        said += [_sentence(one) for one in self.changed_grades]
        removed, added = self.body_changes
        if removed or added:
            said.append(f"The text loses {amount(removed, 'word')} and gains {added:,}.")
        said += [f"The entry “{name}” of the front matter changes." for name in self.other]
        if not said:
            said.append("They are the same." if self.same else "Only spaces or the file's layout differ.")
        return said


def guide_difference(before: Guide, after: Guide) -> GuideDifference:
    """What changes from one guide to the other."""
    old, new = ({grade.value: grade for grade in guide.scale} for guide in (before, after))
    grades = tuple(_change(value, old.get(value), new.get(value)) for value in sorted({*old, *new}))
    blocks = word_blocks(*(_WORDS.findall(_SOFT.sub(" ", guide.body)) for guide in (before, after)))
    return GuideDifference(before, after, grades, blocks, _other(before, after))


def _shortened(block: TextBlock, after_change: bool, before_change: bool) -> TextBlock:
    words = block.text.split(" ")
    head, tail = words[: _CONTEXT * after_change], words[len(words) - _CONTEXT * before_change :]
    if len(head) + len(tail) >= len(words):
        return block
    return TextBlock("same", " ".join([*head, "…", *tail]).strip("\n"))


def _change(value: int, before: Grade | None, after: Grade | None) -> GradeChange:
    changed: tuple[str, ...] = ()
    if before is not None and after is not None:
        changed = tuple(name for name in _SUMMARIES if getattr(before, name) != getattr(after, name))
    return GradeChange(value, before, after, changed)


def _sentence(one: GradeChange) -> str:
    if one.before is None or one.after is None:
        grade = one.after or one.before
        assert grade is not None
        return f"Grade {one.value}, “{grade.name}”, is {one.kind}."
    name = f"Grade {one.value}, “{one.before.name}”"
    if "name" in one.changed:
        name += f", is “{one.after.name}” now"
    rest = [_SUMMARIES[entry] for entry in one.changed if entry != "name"]
    return ", ".join([name, *rest]) + "."


def _other(before: Guide, after: Guide) -> tuple[str, ...]:
    """Unknown where the whole text of one is not stored."""
    if not (before.source and after.source):
        return ()
    old, new = (_entries(guide.source) for guide in (before, after))
    names = (name for name in {**old, **new} if name not in ("title", "scale"))
    return tuple(name for name in names if old.get(name) != new.get(name))


def _entries(source: str) -> dict[str, Any]:
    parts = split_source(source)
    values = read_values(parts.front) if parts else None
    return values if isinstance(values, dict) else {}


def version_table(found: Sequence[GuideVersion]) -> Table:
    """The versions, and the judgments that were given under each."""
    rows = (
        (
            one.guide_hash[:SHORT] + (", in force" if one.in_force else ""),
            *(one.title, one.since or "not recorded", one.by or "not recorded", one.reason or "–"),
            *(one.answers, ", ".join(one.rounds) or "–"),
        )
        for one in found
    )
    columns = ("Version", "Title", "In force since (UTC)", "By", "Why", "Judgments", "Open rounds")
    return Table("Versions of the guide, newest first", columns, tuple(rows), words=True)
