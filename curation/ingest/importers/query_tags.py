"""Tags of queries: which there are in a project, and who said that a query has one.

Rules find some tags (`RULE_TAGS`). People set the others: `BY_PEOPLE`, and the tags that the project's leads
declared (`declare_tags`). Rules and people both append to `query_tags` that a query has a tag or has it not.
The latest statement of each counts, and a person's overrides any rule's.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.text import join_words
from curation.ingest.readers.values import text_of
from curation.people.annotators import require_author
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    append_rows,
    get_setting,
    put_setting,
    record_event,
    utc_now,
)

RULE_TAGS = (*"question temporal multi-intent short long".split(),)
FAILURE_MODES = (*"single-hop multi-hop ambiguous out-of-domain adversarial unanswerable".split(),)
BY_PEOPLE = (*"entity misspelling synonym".split(), *FAILURE_MODES)
MAX_NAME_LENGTH = 40
MAX_OWN = 200
"""Tags that a project may declare: a field with more values than that is no category."""
NAME_EXPECTED = (
    f"A tag has lower-case letters, digits and hyphens, begins with a letter or digit, and has at most "
    f"{MAX_NAME_LENGTH} characters."
)
DECLARE = "`goldgrade tags --declare NAME` adds a tag of your own."

_SETTING = "own tags"
_NAME = re.compile(rf"[^\W_](?:[^\W_]|-){{0,{MAX_NAME_LENGTH - 1}}}")
_MAX_NAMED = 40
_LATEST = """
    SELECT query_id, tag, present FROM query_tags WHERE by_person = ?
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY revision DESC) = 1
"""


def own_tags(cursor: Cursor) -> list[str]:
    """The tags that the project's leads declared, by name."""
    return sorted(json.loads(get_setting(cursor, _SETTING) or "[]"))


def known_tags(cursor: Cursor) -> list[str]:
    """All tags that a query of the project can have: the rules', people's, and the project's own."""
    return [*RULE_TAGS, *BY_PEOPLE, *own_tags(cursor)]


def tags_for_people(cursor: Cursor) -> list[str]:
    """All known tags in the order in which a page offers them to people: the project's own first."""
    return [*own_tags(cursor), *BY_PEOPLE, *RULE_TAGS]


def check_tags(cursor: Cursor, names: Iterable[str]) -> None:
    """Raise an InputError that says which of these tags the project does not know, and which it knows."""
    known = known_tags(cursor)
    unknown = [unknown_tag(name, known) for name in dict.fromkeys(names) if name not in known]
    if unknown:
        raise InputError(unknown, way_out=tags_sentence(known), command=DECLARE)


def unknown_tag(name: str, known: Sequence[str]) -> str:
    """The sentence on a tag that is not known, with the known one that it may be a slip of."""
    near = get_close_matches(tag_name(name), known, n=1, cutoff=0.75)
    return f"there is no tag {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def tags_sentence(known: Sequence[str]) -> str:
    """The sentence that lists the known tags."""
    return f"Tags: {join_words(known, _MAX_NAMED)}."


def tag_name(value: str) -> str:
    """The name of the tag that a value of a field means: in small letters, with hyphens for spaces."""
    return re.sub(r"[\s_]+", "-", unicodedata.normalize("NFC", value).strip().lower())


def tag_names(value: Any) -> list[str]:
    """The names of the tags in a cell of a field: the items of a list, or what commas and bars separate."""
    values = (
        [text_of(item) for item in value] if isinstance(value, list) else re.split(r"[,|]", text_of(value))
    )
    return [name for name in map(tag_name, values) if name]


def is_tag_name(name: str) -> bool:
    """Whether a tag can have this name."""
    return _NAME.fullmatch(name) is not None and name == tag_name(name)


def declare_tags(
    store: Store, names: Sequence[str], author: str = COMMAND_LINE, actor: str = COMMAND_LINE
) -> list[str]:
    """Declare tags of the project's own; returns those that the project did not know.

    Parameters
    ----------
    author: who wants the tags; need not be known to the project.
    actor: who writes it down: a lead or the command line.

    Raises
    ------
    InputError: no name was given, no tag can have a name, or the project would have too many.
    RefusedError: the actor is no lead.
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
    """Add the names that are no known tags to the project's own tags; returns them.

    Raises
    ------
    InputError: the project would have more than `MAX_OWN`.
    """
    known = set(known_tags(cursor))
    new = sorted({name for name in names if name not in known})
    tags = [*own_tags(cursor), *new]
    if len(tags) > MAX_OWN:
        refuse_problems(
            [
                f"The project would have {len(tags):,} tags of its own, such as {join_words(new, 3)}; "
                f"expected at most {MAX_OWN:,}. Name a field with few values as tags."
            ]
        )
    if new:
        put_setting(cursor, _SETTING, json.dumps(sorted(tags), ensure_ascii=False))
        record_event(cursor, "tags declare", {"tags": new}, author)
    return new


@dataclass(frozen=True)
class TagsSet:
    """What a person changed: query id and tag of each change, and how many were set so before."""

    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    unchanged: int

    @property
    def sentences(self) -> list[str]:
        """How many tags were added and removed, and how many were so before."""
        counts = f"{len(self.added):,} added, {len(self.removed):,} removed"
        return [f"{counts}, {self.unchanged:,} were so already."]


class TagStatement(NamedTuple):
    """That a query has a tag, or has it not."""

    query_id: str
    tag: str
    present: bool


def tags_in_force(cursor: Cursor, by_person: bool) -> dict[tuple[str, str], bool]:
    """Query and tag → whether the query has it, as the rules or people said last."""
    rows = cursor.execute(_LATEST, [by_person]).fetchall()
    return {(query_id, tag): present for query_id, tag, present in rows}


def tags_by_people(cursor: Cursor, tag: str) -> dict[str, bool]:
    """Normalised text → what people set; if two queries of one text differ, the text has the tag."""
    rows = cursor.execute(
        f"SELECT normalised, bool_or(present) FROM ({_LATEST}) JOIN queries USING (query_id) "  # noqa: S608
        "WHERE tag = ? GROUP BY normalised",
        [True, tag],
    ).fetchall()
    return dict(rows)


def is_new(word: TagStatement, in_force: Mapping[tuple[str, str], bool], by_person: bool) -> bool:
    """Whether a statement changes anything. A rule's no is not stored if it never said yes."""
    last = in_force.get((word.query_id, word.tag))
    if last is None:
        return word.present or by_person
    return last != word.present


def write_persons_tags(cursor: Cursor, statements: Sequence[TagStatement], author: str) -> TagsSet:
    """Store what a person says of tags of queries, where it changes anything."""
    in_force = tags_in_force(cursor, by_person=True)
    new = [word for word in statements if is_new(word, in_force, by_person=True)]
    append_statements(cursor, new, by_person=True, author=author)
    added = [(word.query_id, word.tag) for word in new if word.present]
    removed = [(word.query_id, word.tag) for word in new if not word.present]
    if new:
        record_event(cursor, "tags set", {"added": added, "removed": removed}, author)
    return TagsSet(added, removed, len(statements) - len(new))


def append_statements(
    cursor: Cursor, statements: Sequence[TagStatement], by_person: bool, author: str
) -> None:
    """Append statements, each as the next revision of its query's tag."""
    if not statements:
        return
    rows = cursor.execute("SELECT query_id, tag, max(revision) FROM query_tags GROUP BY ALL").fetchall()
    revisions = {(query_id, tag): revision for query_id, tag, revision in rows}
    new = [
        (
            statement.query_id,
            statement.tag,
            revisions.get((statement.query_id, statement.tag), 0) + 1,
            statement.present,
        )
        for statement in statements
    ]
    names, by = ("query_id", "tag", "revision", "present"), {"by_person": by_person, "author": author}
    append_rows(cursor, "query_tags", new, names, **by, tagged_at=utc_now())
