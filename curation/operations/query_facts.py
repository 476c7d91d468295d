"""The facts of one query, which reviewers and leads read, with the texts that leads edit.

Annotators read the information need below the query. Only reviewers and leads read the notes.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError, refuse_problems
from curation.core.text import MAX_NOTE_LENGTH
from curation.ingest.filters import FIELD, Filter
from curation.ingest.importers.nuggets import Nugget, read_nuggets
from curation.ingest.importers.queries import find_personal_data
from curation.labeling.rounds.withheld_answers import read_withheld_pairs
from curation.labeling.written_answers.proposals import NuggetProposals, read_proposals
from curation.people.annotators import require_author, require_role
from curation.store import Annotator, Cursor, Store, append_revision, record_event, utc_now

READER_ROLES = ("reviewer", "lead")
"""The roles that read the facts of a query; annotators would learn the grades of others for their own
items."""
_FACTS = f"""
SELECT q.text, q.normalised, q.source, coalesce(q.information_need, ''), coalesce(n.note, ''),
       n.author, s.stratum, s.traffic, p.part, r.reason,
       (SELECT list(tag ORDER BY tag) FROM current_query_tags t WHERE t.query_id = $query),
       (SELECT answers FROM current_reference_answers a WHERE a.query_id = $query),
       coalesce(q.metadata ->> '{FIELD}', '{{}}')
FROM queries q
LEFT JOIN (FROM query_notes WHERE query_id = $query ORDER BY revision DESC LIMIT 1) n USING (query_id)
LEFT JOIN sample_queries s
  ON s.query_id = $query AND s.sample_id = (SELECT value FROM settings WHERE name = 'sample')
LEFT JOIN split_assignments p
  ON p.query_id = $query AND p.split_id = (SELECT value FROM settings WHERE name = 'split')
LEFT JOIN retired_queries r ON r.query_id = $query
WHERE q.query_id = $query
"""  # noqa: S608  a name from code
_SEARCHES_IN_LOGS = "SELECT sum(count)::BIGINT FROM traffic WHERE normalised = ?"
_UPDATE_NEED = "UPDATE queries SET information_need = ? WHERE query_id = ?"


class EditedTexts(NamedTuple):
    """The information need and the note of a query; '' for a missing text."""

    need: str
    note: str


class QueryFacts(NamedTuple):
    """The facts of one query that reviewers and leads see, such as its information need and its stratum.

    Attributes
    ----------
    noted_by: name of the person who last edited the need and the note; None without an edit.
    stratum: the query's stratum in the current sample; None if the query is not in the sample.
    searches: number of searches as the sample counted them, else in all logs; None without either.
    part: the query's part in the current split; None without a split.
    retired: the reason for which the query was retired; None for an active query.
    answers, nuggets: the reference answers and the nuggets of the query, if they may be shown.
    proposals: the nuggets that a model proposed, if they may be shown; None without proposals.
    filter: the conditions that a document must meet to be relevant; {} without conditions.
    """

    query_id: str
    text: str
    normalised: str
    source: str
    texts: EditedTexts
    noted_by: str | None
    stratum: str | None
    searches: int | None
    part: str | None
    retired: str | None
    tags: tuple[str, ...]
    answers: tuple[str, ...]
    nuggets: tuple[Nugget, ...]
    proposals: NuggetProposals | None
    filter: Filter


def read_facts(cursor: Cursor, query_id: str, reader: Annotator, *, with_answers: bool = False) -> QueryFacts:
    """Read the facts of a query, such as its need, its notes and its stratum.

    Parameters
    ----------
    with_answers: include reference answers and nuggets, which a release may seal.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    require_role(reader, *READER_ROLES)
    facts = _read_all_facts(cursor, query_id)
    return facts if with_answers else facts._replace(answers=(), nuggets=(), proposals=None)


def _read_all_facts(cursor: Cursor, query_id: str) -> QueryFacts:
    row = cursor.execute(_FACTS, {"query": query_id}).fetchone()
    if row is None:
        advice = "Open the query from a table, or copy the whole address again."
        raise NotFoundError(f"The project has no query with the id {query_id!r}. {advice}")
    text, normalised, source, need, note, noted_by, *context, tags, answers, filter_json = row
    stratum, searches, part, retired = context
    if searches is None:
        [(searches,)] = cursor.execute(_SEARCHES_IN_LOGS, [normalised]).fetchall()
    return QueryFacts(
        query_id=query_id,
        text=text,
        normalised=normalised,
        source=source,
        texts=EditedTexts(need, note),
        noted_by=noted_by,
        stratum=stratum,
        searches=searches,
        part=part,
        retired=retired,
        tags=tuple(tags or ()),
        answers=tuple(answers or ()),
        nuggets=read_nuggets(cursor, query_id).get(query_id, ()),
        proposals=next(iter(read_proposals(cursor, query_id)), None),
        filter=json.loads(filter_json),
    )


def edit_texts(store: Store, query_id: str, shown: EditedTexts, texts: EditedTexts, author: str) -> None:
    """Store a query's edited need and note, unless both are unchanged.

    Parameters
    ----------
    shown: the texts that the page showed to the author.

    Raises
    ------
    InputError: a text is too long or contains personal data.
    NotFoundError: there is no such query.
    RefusedError: the author is not a lead, or a different person has edited the texts meanwhile.
    """
    texts = EditedTexts(texts.need.strip(), texts.note.strip())
    named_texts = {"information need": texts.need, "note": texts.note}
    problems = [problem for name, text in named_texts.items() for problem in find_personal_data(name, text)]
    problems += [
        f"The {name} has {len(text):,} characters; expected at most {MAX_NOTE_LENGTH:,}."
        for name, text in named_texts.items()
        if len(text) > MAX_NOTE_LENGTH
    ]
    refuse_problems(problems)
    with store.transaction() as cursor:
        require_author(cursor, author, "lead")
        facts = _read_all_facts(cursor, query_id)
        if facts.texts == texts:
            return
        if facts.texts != shown:
            change = f"{facts.noted_by or 'An import'} has changed the information need or the notes"
            advice = "Nothing was saved. Copy your text, reload the page, then add your text."
            raise RefusedError(f"{change} since you opened this page. {advice}")
        columns = {"information_need": texts.need or None, "note": texts.note, "author": author}
        append_revision(cursor, "query_notes", "query_id", query_id, **columns, written_at=utc_now())
        if texts.need != shown.need:
            cursor.execute(_UPDATE_NEED, [texts.need or None, query_id])
        record_event(cursor, "edit query", {"query": query_id, **texts._asdict()}, author)


def read_withheld_ids(cursor: Cursor, query_id: str, reader: str) -> set[str]:
    """Read the ids of a query's documents that are among the reader's own items, as long as some of these
    items are open."""
    sql = "SELECT 1 FROM presentations WHERE query_id = ? AND annotator = ? LIMIT 1"
    if not cursor.execute(sql, [query_id, reader]).fetchall():
        return set()
    return {document for query, document in read_withheld_pairs(cursor, reader) if query == query_id}
