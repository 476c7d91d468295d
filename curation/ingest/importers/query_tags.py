"""Queries' tags, which rules find and people set.

Rules find some tags (`RULE_TAGS`). People set the other tags: the tags in `BY_PEOPLE`, and tags that leads
declared (`declare_tags`). Each statement is a row of `query_tags`. The latest statement about a query and a
tag counts, and a person's statement overrides a rule's statement.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.core.text import join_names, suggest
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, utc_now
from curation.store.audit_trail import COMMAND_LINE, record_event

RULE_TAGS = (*"question temporal multi-intent short long".split(),)
FAILURE_MODES = (*"single-hop multi-hop ambiguous out-of-domain adversarial unanswerable".split(),)
BY_PEOPLE = (*"entity misspelling synonym".split(), *FAILURE_MODES)
MAX_NAME_LENGTH = 40
MAX_OWN = 200
"""Greatest number of tags that a project may declare. A field with more values is not a category."""
NAME_EXPECTED = (
    "A tag consists of lower-case letters, digits and hyphens, begins with a letter or digit, and has at "
    f"most {MAX_NAME_LENGTH} characters."
)
DECLARE = "`goldgrade tags --declare NAME` adds your own tag."

_SETTING = "own tags"
_NAME = re.compile(rf"[^\W_](?:[^\W_]|-){{0,{MAX_NAME_LENGTH - 1}}}")
_MAX_LISTED = 40
_LATEST = """
    SELECT query_id, tag, present FROM query_tags WHERE by_person = ?
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY revision DESC) = 1
"""


def read_own_tags(cursor: Cursor) -> list[str]:
    """Return the tags that the project's leads declared, by name."""
    return sorted(json.loads(get_setting(cursor, _SETTING) or "[]"))


def read_known_tags(cursor: Cursor) -> list[str]:
    """Return all of the project's tags: those set by rules, those set by people, and declared ones."""
    return [*RULE_TAGS, *BY_PEOPLE, *read_own_tags(cursor)]


def list_tags_for_people(cursor: Cursor) -> list[str]:
    """Return all known tags in the order in which pages list them: declared tags first."""
    return [*read_own_tags(cursor), *BY_PEOPLE, *RULE_TAGS]


def check_tags(cursor: Cursor, names: Iterable[str]) -> None:
    """Reject tags that the project does not have; the error lists the known tags."""
    known = read_known_tags(cursor)
    unknown = [describe_unknown_tag(name, known) for name in dict.fromkeys(names) if name not in known]
    if unknown:
        raise InputError(unknown, way_out=describe_known_tags(known), command=DECLARE)


def describe_unknown_tag(name: str, known: Sequence[str]) -> str:
    """Return the sentence about an unknown tag, with a similar known tag."""
    return f"there is no tag {name!r}{suggest(to_tag_name(name), known)}"


def describe_known_tags(known: Sequence[str]) -> str:
    """Return the sentence that lists the known tags."""
    return f"Tags: {join_names(known, _MAX_LISTED)}."


def to_tag_name(value: str) -> str:
    """Return a field's value as the name of a tag: in lower case, with hyphens instead of spaces."""
    return re.sub(r"[\s_]+", "-", unicodedata.normalize("NFC", value).strip().lower())


def parse_tag_names(value: Any) -> list[str]:
    """Return the tag names in a cell that has a list, or values separated by commas or vertical bars."""
    texts = map(to_text, value) if isinstance(value, list) else re.split(r"[,|]", to_text(value))
    return [name for name in map(to_tag_name, texts) if name]


def is_tag_name(name: str) -> bool:
    """Return whether the name is valid for a tag."""
    return _NAME.fullmatch(name) is not None and name == to_tag_name(name)


def declare_tags(
    store: Store, names: Sequence[str], author: str = COMMAND_LINE, actor: str = COMMAND_LINE
) -> list[str]:
    """Declare tags for the project; return the new ones.

    Parameters
    ----------
    author: person who asks for the tags, who need not have an account in the project.
    actor: a lead, or the command line.

    Raises
    ------
    InputError: no name is given, a name is invalid, or the project would have too many tags.
    RefusedError: the actor is not a lead.
    """
    if not names:
        raise InputError("No tag was named. Give at least one name.")
    wrong = [f"a tag cannot be called {name!r}" for name in names if not is_tag_name(name)]
    if wrong:
        raise InputError(wrong, way_out=NAME_EXPECTED)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        return add_own_tags(cursor, names, author)


def add_own_tags(cursor: Cursor, names: Iterable[str], author: str) -> list[str]:
    """Declare as tags the names that are not known tags, and return them.

    Raises
    ------
    InputError: the project would have more than `MAX_OWN` declared tags.
    """
    known = set(read_known_tags(cursor))
    new = sorted({name for name in names if name not in known})
    tags = [*read_own_tags(cursor), *new]
    if len(tags) > MAX_OWN:
        raise InputError(
            f"The project would have {len(tags):,} declared tags, such as {join_names(new, 3)}; "
            f"expected at most {MAX_OWN:,}. Name a field with few values as tags."
        )
    if new:
        put_setting(cursor, _SETTING, json.dumps(sorted(tags), ensure_ascii=False))
        record_event(cursor, "tags declare", {"tags": new}, author)
    return new


@dataclass(frozen=True)
class TagChanges:
    """A person's tag changes: the query id and tag of each change, and the number of unchanged tags."""

    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    unchanged: int

    @property
    def sentences(self) -> list[str]:
        """Return the sentence about added, removed and unchanged tags."""
        counts = f"{len(self.added):,} added, {len(self.removed):,} removed"
        return [f"{counts}, {self.unchanged:,} unchanged."]


class TagStatement(NamedTuple):
    """A statement that a query has or does not have a tag."""

    query_id: str
    tag: str
    present: bool


def read_latest_tags(cursor: Cursor, by_person: bool) -> dict[tuple[str, str], bool]:
    """Return the latest statement by rules or people for each query and tag."""
    rows = cursor.execute(_LATEST, [by_person]).fetchall()
    return {(query_id, tag): present for query_id, tag, present in rows}


def read_tags_by_people(cursor: Cursor, tag: str) -> dict[str, bool]:
    """Map normalized texts of queries to whether people set the tag; one tagged query with the text is
    enough."""
    rows = cursor.execute(
        f"SELECT normalised, bool_or(present) FROM ({_LATEST}) JOIN queries USING (query_id) "  # noqa: S608
        "WHERE tag = ? GROUP BY normalised",
        [True, tag],
    ).fetchall()
    return dict(rows)


def changes_tag(statement: TagStatement, latest: Mapping[tuple[str, str], bool], by_person: bool) -> bool:
    """Return whether a statement changes a query's tag; a rule's first statement that a query lacks a tag
    changes nothing."""
    latest_statement = latest.get((statement.query_id, statement.tag))
    if latest_statement is None:
        return statement.present or by_person
    return latest_statement != statement.present


def write_persons_tags(cursor: Cursor, statements: Sequence[TagStatement], author: str) -> TagChanges:
    """Store a person's statements about tags, except statements that change nothing."""
    latest = read_latest_tags(cursor, by_person=True)
    changes = [statement for statement in statements if changes_tag(statement, latest, by_person=True)]
    append_tags(cursor, changes, by_person=True, author=author)
    added = [(statement.query_id, statement.tag) for statement in changes if statement.present]
    removed = [(statement.query_id, statement.tag) for statement in changes if not statement.present]
    if changes:
        record_event(cursor, "tags set", {"added": added, "removed": removed}, author)
    return TagChanges(added, removed, len(statements) - len(changes))


def append_tags(cursor: Cursor, statements: Sequence[TagStatement], by_person: bool, author: str) -> None:
    """Append statements as the next revisions of their queries' tags."""
    if not statements:
        return
    rows = cursor.execute("SELECT query_id, tag, max(revision) FROM query_tags GROUP BY ALL").fetchall()
    newest = {(query_id, tag): revision for query_id, tag, revision in rows}
    new_rows = [
        (query_id, tag, newest.get((query_id, tag), 0) + 1, present) for query_id, tag, present in statements
    ]
    names, source = ("query_id", "tag", "revision", "present"), {"by_person": by_person, "author": author}
    append_rows(cursor, "query_tags", new_rows, names, **source, tagged_at=utc_now())
