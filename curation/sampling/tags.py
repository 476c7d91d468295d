"""Tags: what kind a query is, by small rules and by people's word.

A rule tells what a query's text shows (`RULE_TAGS`, see `sampling.tag_rules`); how systems fail on it is for
people alone to say (`FAILURE_MODES`). Rules and people both append to `query_tags` that a tag is there or is
not, and a person's word stands over any rule's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import InputError, NotFoundError, RefusedError
from curation.labeling.annotators import require_author
from curation.labeling.query_answers import answered_no, unanswerable
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.retrieval.word_counts import vocabulary
from curation.sampling import tag_rules
from curation.sampling.misspellings import Spelling
from curation.sampling.names import names_of
from curation.sources.corpus import current_corpus, current_snapshot
from curation.sources.queries import KnownQueries, active_queries, add_query
from curation.sources.records import Layout, Records, text_of
from curation.store import Cursor, Store, append, get_setting, record_event, utc_now
from curation.store.rows import Query
from curation.store.settings import COMMAND_LINE

RULE_TAGS: tuple[str, ...] = (
    "question",
    "entity",
    "misspelling",
    "temporal",
    "multi-intent",
    "synonym",
    "short",
    "long",
)
FAILURE_MODES: tuple[str, ...] = (
    "single-hop",
    "multi-hop",
    "ambiguous",
    "out-of-domain",
    "adversarial",
    "unanswerable",
)
TAGS = RULE_TAGS + FAILURE_MODES
OF_CORPUS = frozenset({"entity", "misspelling", "synonym"})
"""Tags that the corpus tells."""
QUERY_FIELDS = ("query", "query_id", "qid", "text", "_id", "id")
TAG_FIELDS = ("tag", "tags")

Mask = NDArray[np.bool_]


class TaggedQuery(NamedTuple):
    """A query in force with its tags.

    stratum: of the current sample; None for a query that it did not draw.
    tags: tag → whether a person said so, in the order of `TAGS`.
    """

    query_id: str
    text: str
    stratum: str | None
    tags: dict[str, bool]


@dataclass(frozen=True)
class TagsFound:
    """What the rules said of the queries in force.

    Attributes
    ----------
    queries: how many there are.
    tags: tag → how many have it now, by rule or person.
    changed: queries' tags that were added, taken away or told for the first time.
    by_person: rule's tags of a query for which a person's word stands, whatever the rule says.
    not_looked_for: tag → why its rule was not run; what was known of it stays.
    """

    queries: int
    tags: dict[str, int]
    changed: int
    by_person: int
    not_looked_for: dict[str, str]


@dataclass(frozen=True)
class TagsSet:
    """What a person said: query id and tag of each change, and how much was so already."""

    added: list[tuple[str, str]]
    removed: list[tuple[str, str]]
    unchanged: int


class _Word(NamedTuple):
    """That a query has a tag, or has it not."""

    query_id: str
    tag: str
    present: bool


class _Told(NamedTuple):
    """The word in force on a query's tag."""

    present: bool
    by_person: bool
    author: str


class _Lexicon(NamedTuple):
    spelling: Spelling
    names: frozenset[str]


def tag_texts(
    store: Store,
    tag: str,
    texts: Sequence[str],
    progress: Progress = silent,
    model: str = DEFAULT_MODEL,
) -> Mask:
    """Which of these normalised texts have a tag, shape (texts,): by rule, or by a person's word on one.

    A failure mode has no rule: only what people said of known queries counts.

    Raises
    ------
    InputError: there is no such tag.
    RefusedError: the tag is told by the corpus, and there is none; or the model cannot be loaded.
    NotFoundError: the model is written as a path, and there is no such folder.
    """
    _check_tags([tag])
    with store.reading() as cursor:
        said = _said_by_people(cursor, tag)
    found = np.zeros(len(texts), bool)
    if tag in RULE_TAGS:
        found = _by_rule(store, tag, texts, progress, model)
    if said:
        for place, text in enumerate(texts):
            found[place] = said.get(text, found[place])
    return found


def find_tags(
    store: Store,
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    dense: bool = True,
    author: str = COMMAND_LINE,
) -> TagsFound:
    """Run all rules on the queries in force and keep what they say; what is known already is not repeated.

    Parameters
    ----------
    dense: look for synonyms too, for which the corpus must be embedded once.
    author: who had them looked for, for the audit trail: a lead or the command line.

    Raises
    ------
    RefusedError: there are no queries, or queries or corpus changed meanwhile; or the author is no lead.
    NotFoundError, RefusedError: see `retrieval.embeddings.embed`.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        queries = active_queries(cursor)
        snapshot = get_setting(cursor, "corpus")
    if not queries:
        raise RefusedError(
            "There are no queries to tag yet: draw a sample, import queries, or write one with "
            "`goldset query add`."
        )
    reasons = _not_looked_for(snapshot is not None, dense)
    texts = [query.normalised for query in queries]
    looked_for = [tag for tag in RULE_TAGS if tag not in reasons]
    said = [
        _Word(query.query_id, tag, bool(present))
        for tag in looked_for
        for query, present in zip(queries, _by_rule(store, tag, texts, progress, model), strict=True)
    ]
    with store.transaction() as cursor:
        if active_queries(cursor) != queries or get_setting(cursor, "corpus") != snapshot:
            raise RefusedError("Queries or corpus changed while the tags were looked for. Look again.")
        told = _told(cursor, by_person=False)
        new = [word for word in said if _is_news(word, told, by_person=False)]
        _write(cursor, new, by_person=False, author=tag_rules.VERSION)
        if new:
            detail = {"queries": len(queries), "changed": len(new), "not looked for": reasons}
            record_event(cursor, "tags find", detail, author)
        people = _told(cursor, by_person=True)
        counts = _counts(cursor, {query.query_id for query in queries})
    standing = sum((word.query_id, word.tag) in people for word in said)
    return TagsFound(len(queries), counts, len(new), standing, reasons)


def set_tags(
    store: Store,
    queries: Sequence[str] | str,
    add: Sequence[str],
    remove: Sequence[str],
    author: str = COMMAND_LINE,
    actor: str = COMMAND_LINE,
) -> TagsSet:
    """Write a person's word on one query or several, named by id or text; it stands over the rules'.

    All of it is written, or nothing; a query that is named twice counts once.

    Parameters
    ----------
    author: whose word it is; need not be known to the project.
    actor: who writes it down: a lead or the command line.

    Raises
    ------
    InputError: there is no such tag, one is added and removed at once, nothing is said, no query is named, or
        several queries have one text.
    NotFoundError: queries that nothing has the id or text of, all of them.
    RefusedError: the actor is no lead.
    """
    _check_tags([*add, *remove])
    both = sorted(set(add) & set(remove))
    if both:
        raise InputError(f"{', '.join(map(repr, both))} cannot be added and removed at once.")
    if not add and not remove:
        raise InputError("No tag was named. Give at least one to add or to remove.")
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        query_ids = _find_all(cursor, [queries] if isinstance(queries, str) else queries)
        words = dict.fromkeys([*((tag, True) for tag in add), *((tag, False) for tag in remove)])
        said = [_Word(query_id, *word) for query_id in query_ids for word in words]
        return _say(cursor, said, author)


def write_query(
    store: Store,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    tags: Sequence[str] = (),
    author: str = COMMAND_LINE,
    actor: str = COMMAND_LINE,
) -> Query:
    """Add a query that somebody wrote, with the tags that they give it.

    Parameters
    ----------
    author, actor: see `set_tags`.

    Raises
    ------
    InputError: there is no such tag; or see `sources.queries.add_query`.
    RefusedError: the project holds the text, or the id, already; or the actor is no lead.
    """
    _check_tags(tags)
    with store.transaction() as cursor:
        require_author(cursor, actor, "lead")
        query = add_query(cursor, text, query_id, information_need)
        record_event(cursor, "query add", {"query": query.query_id}, author)
        _say(cursor, [_Word(query.query_id, tag, True) for tag in dict.fromkeys(tags)], author)
    return query


def import_tags(
    store: Store,
    path: Path,
    author: str = COMMAND_LINE,
    query_field: str | None = None,
    tag_field: str | None = None,
    layout: Layout | None = None,
) -> TagsSet:
    """Write a person's word on many queries from a file with a query and its tags a line.

    A query is named by id or text; a cell holds one tag or several, parted by commas, white space or bars,
    each with a minus sign before it where the query does not have it.

    Raises
    ------
    InputError: the file cannot be read or lacks a column, names unknown queries or tags, or says yes and no
        of the same; all problems at once, and nothing is written.
    """
    records = Records(path, layout)
    of_query = records.need("--query-field", query_field, QUERY_FIELDS, "the queries")
    of_tag = records.need("--tag-field", tag_field, TAG_FIELDS, "the tags")
    lines = [
        (record.line, text_of(record.fields.get(of_query or "")).strip(), record.fields.get(of_tag or ""))
        for record in records
    ]
    said: dict[tuple[str, str], tuple[int, bool]] = {}
    with store.transaction() as cursor:
        known = KnownQueries(cursor)
        for line, name, cell in lines:
            query_id = _query_of(known, name, line, records)
            for tag, present in _tags_of(cell, line, records):
                first = said.setdefault((query_id or name, tag), (line, present))
                if first[1] != present:
                    records.problems.add(
                        line, f"says the opposite of {records.unit} {first[0]} on {tag!r} of {name!r}"
                    )
        records.problems.check()
        ordered = [_Word(query_id, tag, present) for (query_id, tag), (_, present) in said.items()]
        return _say(cursor, ordered, author)


def tagged_queries(store: Store, tag: str | None = None) -> list[TaggedQuery]:
    """The queries in force by id, each with its tags; with `tag`, those that have it.

    Raises
    ------
    InputError: there is no such tag.
    """
    if tag is not None:
        _check_tags([tag])
    with store.reading() as cursor:
        queries = active_queries(cursor)
        rows = cursor.execute("SELECT query_id, tag, by_person FROM current_query_tags").fetchall()
        strata = dict(
            cursor.execute(
                "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?",
                [get_setting(cursor, "sample")],
            ).fetchall()
        )
    held: dict[str, dict[str, bool]] = {}
    for query_id, name, by_person in sorted(rows, key=lambda row: TAGS.index(row[1])):
        held.setdefault(query_id, {})[name] = by_person
    tagged = [
        TaggedQuery(query.query_id, query.text, strata.get(query.query_id), held.get(query.query_id, {}))
        for query in queries
    ]
    return [query for query in tagged if tag is None or tag in query.tags]


def unanswerable_share(cursor: Cursor) -> tuple[int, int] | None:
    """Queries of the current sample that the corpus does not answer, of how many.

    Those are tagged unanswerable, or most annotators who were asked after their last document said no. A
    person's word that a query is not unanswerable stands against those answers. None while nobody has tagged
    a failure mode or answered, or there is no sample: unknown is not zero.
    """
    rows = cursor.execute(
        """
        SELECT count(DISTINCT s.query_id) FILTER (
                   c.tag = 'unanswerable'
                   OR list_contains($answered_no, s.query_id) AND NOT list_contains($denied, s.query_id)),
               count(DISTINCT s.query_id),
               (SELECT count(*) FROM query_tags SEMI JOIN sample_queries d
                ON query_tags.query_id = d.query_id AND d.sample_id = $sample
                WHERE list_contains($modes, tag)),
               count(*) FILTER (list_contains($asked, s.query_id))
        FROM sample_queries s LEFT JOIN current_query_tags c USING (query_id) WHERE s.sample_id = $sample
        """,
        {
            "sample": get_setting(cursor, "sample"),
            "modes": list(FAILURE_MODES),
            "answered_no": sorted(answered_no(cursor)),
            "denied": [
                query_id
                for (query_id, tag), said in _told(cursor, by_person=True).items()
                if tag == "unanswerable" and not said.present
            ],
            "asked": [row.query_id for row in unanswerable(cursor)],
        },
    ).fetchall()
    found, of, tagged, answered = rows[0]
    return (found, of) if tagged or answered else None


def _find_all(cursor: Cursor, names: Sequence[str]) -> list[str]:
    """The ids of these queries, each once; refuses all at once what cannot be found."""
    if not names:
        raise InputError("No query was named. Give the id or text of at least one.")
    known = KnownQueries(cursor)
    found: dict[str, None] = {}
    unclear, missing = [], []
    for name in dict.fromkeys(names):
        try:
            query = known.find(name)
        except InputError as error:
            unclear += error.problems
            continue
        if query is None:
            missing.append(name)
        else:
            found[query.query_id] = None
    absent = f"No query has the id or text {', '.join(map(repr, missing))}."
    if unclear:
        raise InputError([*unclear, *([absent] if missing else [])])
    if missing:
        raise NotFoundError(f"{absent} `goldset tags list` shows those in force.")
    return list(found)


def _check_tags(names: Iterable[str]) -> None:
    unknown = [_unknown(name) for name in dict.fromkeys(names) if name not in TAGS]
    if unknown:
        raise InputError(unknown, way_out=_KNOWN)


def _unknown(name: str) -> str:
    return f"there is no tag {name!r}"


_KNOWN = f"Tags: {', '.join(TAGS)}."


def _not_looked_for(with_corpus: bool, dense: bool) -> dict[str, str]:
    if not with_corpus:
        why = "there is no corpus that could tell: import one"
        return {tag: why for tag in RULE_TAGS if tag in OF_CORPUS}
    return {} if dense else {"synonym": "it was asked to leave dense neighbours out"}


def _by_rule(store: Store, tag: str, texts: Sequence[str], progress: Progress, model: str) -> Mask:
    if tag in tag_rules.PLAIN:
        rule = tag_rules.PLAIN[tag]
        return np.fromiter(map(rule, texts), bool, len(texts))
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
    if tag == "synonym":
        from curation.sampling.synonyms import find_synonyms

        with store.reading() as cursor:
            documents = current_corpus(cursor)
        return find_synonyms(store, documents, texts, model, progress)
    lexicon = _lexicon(store, snapshot)
    told: Callable[[str], bool] = (
        (lambda text: tag_rules.is_entity(text, lexicon.names))
        if tag == "entity"
        else (lambda text: tag_rules.is_misspelling(text, lexicon.spelling))
    )
    return np.fromiter(map(told, texts), bool, len(texts))


@lru_cache(maxsize=1)
def _lexicon(store: Store, snapshot: str) -> _Lexicon:
    """What the words of a corpus are; kept for the next tag, as a snapshot never changes."""
    with store.reading() as cursor:
        documents = current_corpus(cursor)
    return _Lexicon(Spelling(vocabulary(store)), names_of(documents))


_LATEST = """
    SELECT query_id, tag, present, by_person, author FROM query_tags WHERE by_person = ?
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY revision DESC) = 1
"""


def _told(cursor: Cursor, by_person: bool) -> dict[tuple[str, str], _Told]:
    """The last word of the rules, or of people, on each query's tag."""
    rows = cursor.execute(_LATEST, [by_person]).fetchall()
    return {(query_id, tag): _Told(*rest) for query_id, tag, *rest in rows}


def _said_by_people(cursor: Cursor, tag: str) -> dict[str, bool]:
    """Normalised text → what people said; where two queries of one text differ, the tag is there."""
    rows = cursor.execute(
        f"SELECT normalised, bool_or(present) FROM ({_LATEST}) JOIN queries USING (query_id) "  # noqa: S608
        "WHERE tag = ? GROUP BY normalised",
        [True, tag],
    ).fetchall()
    return dict(rows)


def _is_news(word: _Word, told: Mapping[tuple[str, str], _Told], by_person: bool) -> bool:
    """Whether a word changes anything. A rule's no needs no writing where it never said yes."""
    last = told.get((word.query_id, word.tag))
    if last is None:
        return word.present or by_person
    return last.present != word.present


def _say(cursor: Cursor, said: Sequence[_Word], author: str) -> TagsSet:
    told = _told(cursor, by_person=True)
    new = [word for word in said if _is_news(word, told, by_person=True)]
    _write(cursor, new, by_person=True, author=author)
    added = [(word.query_id, word.tag) for word in new if word.present]
    removed = [(word.query_id, word.tag) for word in new if not word.present]
    if new:
        record_event(cursor, "tags set", {"added": added, "removed": removed}, author)
    return TagsSet(added, removed, len(said) - len(new))


def _write(cursor: Cursor, said: Sequence[_Word], by_person: bool, author: str) -> None:
    """Append words, each as the next revision of its query's tag."""
    if not said:
        return
    rows = cursor.execute("SELECT query_id, tag, max(revision) FROM query_tags GROUP BY ALL").fetchall()
    revisions = {(query_id, tag): revision for query_id, tag, revision in rows}
    now = utc_now()
    append(
        cursor,
        "query_tags",
        {
            "query_id": [word.query_id for word in said],
            "tag": [word.tag for word in said],
            "revision": [revisions.get((word.query_id, word.tag), 0) + 1 for word in said],
            "present": [word.present for word in said],
            "by_person": [by_person] * len(said),
            "author": [author] * len(said),
            "tagged_at": [now] * len(said),
        },
    )


def _counts(cursor: Cursor, query_ids: Collection[str]) -> dict[str, int]:
    """How many of these queries have each tag, those that none has included."""
    counts = dict.fromkeys(TAGS, 0)
    for query_id, tag in cursor.execute("SELECT query_id, tag FROM current_query_tags").fetchall():
        counts[tag] += query_id in query_ids
    return counts


def _query_of(known: KnownQueries, name: str, line: int, records: Records) -> str | None:
    try:
        found = known.find(name) if name else None
    except InputError as error:
        records.problems.add(line, error.problems[0])
        return None
    if found is None:
        records.problems.add(
            line,
            f"no query has the id or text {name!r}" if name else "no query is named",
            "`goldset tags list` shows the queries in force.",
        )
        return None
    return found.query_id


def _tags_of(cell: object, line: int, records: Records) -> list[tuple[str, bool]]:
    parts = cell if isinstance(cell, list) else text_of(cell).replace(",", " ").replace("|", " ").split()
    found = [(str(part).removeprefix("-"), not str(part).startswith("-")) for part in parts]
    for tag, _ in found:
        if tag not in TAGS:
            records.problems.add(line, _unknown(tag), _KNOWN)
    if not found:
        records.problems.add(line, "no tag is named; expected at least one", _KNOWN)
    return [(tag, present) for tag, present in found if tag in TAGS]
