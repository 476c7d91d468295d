"""Adding a query that somebody wrote, or a model; personal data in it is refused, not replaced."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from curation.core.errors import RefusedError, refuse_problems
from curation.core.text import normalise_query
from curation.ingest.importers.compare_queries import ImportedQuery, write_queries
from curation.ingest.importers.queries import KnownQueries, query_id_of
from curation.ingest.importers.redaction.personal_data import redact
from curation.ingest.readers.lines import clean
from curation.store import Cursor, Query


def add_query(
    cursor: Cursor,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    source: Literal["written", "synthetic"] = "written",
) -> Query:
    """Add a query that a person wrote, or a model, and return it; without an id it gets the one of its text.

    Raises
    ------
    InputError: the text is empty, text or information need hold personal data, the id holds an e-mail
        address, or something is not text.
    RefusedError: the project holds the text, or the id, already.
    """
    query_id = (query_id or "").strip() or None
    text, need = text.strip(), (information_need or "").strip()
    normalised = normalise_query(text)
    problems = [] if normalised else ["The query is empty; expected its text."]
    problems += personal_problems("query", text) + personal_problems("information need", need)
    if query_id and holds_address(query_id):
        problems.append("The id holds an e-mail address, which goldgrade does not store. Give another.")
    problems += [
        f"The {what} holds bytes that are no characters; expected text in UTF-8."
        for what, given in (("query", text), ("information need", need), ("id", query_id or ""))
        if clean(given, Counter()) != given
    ]
    refuse_problems(problems)
    known = KnownQueries.read(cursor)
    query = Query(query_id or query_id_of(normalised), text, normalised, source, need or None)
    _refuse_known(known, query)
    write_queries(cursor, [ImportedQuery(query, "{}", 0)], [])
    return query


def personal_problems(what: str, text: str) -> list[str]:
    """The sentence on personal data in a text that somebody wrote; none without any."""
    kinds = ", ".join(sorted(redact(text).kinds))
    if not kinds:
        return []
    return [f"The {what} holds personal data ({kinds}), which goldgrade does not store. Write it without."]


def holds_address(query_id: str) -> bool:
    """Whether an id holds somebody's address; digits and signs as in a card's or a key are what ids are."""
    return "email" in redact(query_id).kinds


def _refuse_known(known: KnownQueries, query: Query) -> None:
    same = known.of_text(query.normalised)
    if same:
        refusal = f"The project holds this text already, as query {same[0].query_id!r}."
        if same[0].source != "traffic":
            raise RefusedError(refusal)
        raise RefusedError(
            f"{refusal} It came from traffic. Imported from a file, it stays whatever sample is in force.",
            command="`goldgrade import queries` does so.",
        )
    held = known.of_id(query.query_id)
    if held is not None:
        raise RefusedError(
            f"The id {query.query_id!r} belongs to the query {held.text!r}. Give another.",
            command="--id gives one.",
        )
