"""The imports of queries, reference answers and nuggets: the calls, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.progress import Progress
from curation.core.text import amount, listed
from curation.ingest.importers.answers.nuggets import import_nuggets
from curation.ingest.importers.answers.query_rows import QueryItemsImport
from curation.ingest.importers.answers.reference_answers import import_answers
from curation.ingest.importers.query_import import QueryImport, import_queries
from curation.ingest.picking.outcome import ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.fields import NuggetFields, QueryFields, ReferenceFields
from curation.labeling.transfers.outside import withdraw_outside
from curation.operations.importing.sentences import SHOWN, fields_used, personal_data, replaced, withdrawn
from curation.store import Store


def queries(store: Store, request: ImportRequest, progress: Progress, author: str) -> QueryImport:
    """Queries besides the sample."""
    fields = request.columns_of(QueryFields)
    return import_queries(store, request.file, fields, request.layout, progress, author, withdraw_outside)


def queries_outcome(query_import: QueryImport) -> ImportOutcome:
    counts = {
        "added": query_import.added,
        "changed": query_import.changed,
        "unchanged": query_import.unchanged,
    }
    changes = bool(
        query_import.added or query_import.changed or query_import.answers or query_import.tags_added
    )
    sentence = (
        f"Nothing changed: the project has the same {amount(query_import.queries, 'query', 'queries')}."
    )
    if changes:
        shown = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        sentence = f"{amount(query_import.queries, 'query', 'queries')}: {shown}."
    remarks = [fields_used(query_import.fields, "all others are metadata")]
    remarks += [known_sentence(query_import.known_as)] if query_import.known_as else []
    if query_import.answers:
        remarks.append(f"{amount(query_import.answers, 'query', 'queries')} got new reference answers.")
    if query_import.tags:
        shown = listed([f"{tag} {count:,}" for tag, count in query_import.tags.items()], SHOWN)
        new = (
            f" The project's own tags now include {listed(query_import.declared, SHOWN)}."
            if query_import.declared
            else ""
        )
        remarks.append(f"Tags of the queries: {shown}. {query_import.tags_added:,} of them are new.{new}")
    remarks += [
        *personal_data(query_import.personal, "queries", "replaced"),
        *replaced(query_import.replaced),
    ]
    remarks += withdrawn(query_import.withdrawn)
    return ImportOutcome(
        changes,
        sentence,
        "queries",
        {"queries": query_import.queries} | counts,
        query_import.left_out,
        remarks,
    )


def known_sentence(known_as: Mapping[str, str]) -> str:
    """Which queries of a file the project knew under an id of its own."""
    pairs = [f"{theirs} is {ours}" for theirs, ours in known_as.items()]
    return (
        f"{len(pairs):,} of them the project knew by their text and keep its id: "
        f"{listed(pairs, SHOWN)}. Judgments that name them by either id are understood."
    )


def answers(store: Store, request: ImportRequest, progress: Progress, author: str) -> QueryItemsImport:
    """Reference answers; the option `skip_unknown` leaves out those to queries that the project lacks."""
    fields, skip = request.columns_of(ReferenceFields), bool(request.options.get("skip_unknown"))
    return import_answers(store, request.file, fields, request.layout, skip, progress, author)


def answers_outcome(found: QueryItemsImport) -> ImportOutcome:
    return _by_query(found, "answers", amount(found.items, "reference answer"))


def nuggets(store: Store, request: ImportRequest, progress: Progress, author: str) -> QueryItemsImport:
    """Nuggets; the option `skip_unknown` leaves out those of queries that the project lacks."""
    fields, skip = request.columns_of(NuggetFields), bool(request.options.get("skip_unknown"))
    return import_nuggets(store, request.file, fields, request.layout, skip, progress, author)


def nuggets_outcome(found: QueryItemsImport) -> ImportOutcome:
    return _by_query(found, "nuggets", amount(found.items, "nugget"))


def _by_query(found: QueryItemsImport, unit: str, taken: str) -> ImportOutcome:
    """What is stored query by query, where a file replaces all that a query had."""
    counts = {"new": found.new, "changed": found.changed, "unchanged": found.unchanged}
    changes, queries = bool(found.new or found.changed), amount(found.queries, "query", "queries")
    sentence = f"Nothing changed: the project has these {unit} to {queries}."
    if changes:
        shown = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        sentence = f"{taken} to {queries}: {shown}."
    figures = {unit: found.items, "queries": found.queries, **counts}
    remarks = [fields_used(found.fields), *personal_data(found.personal, unit, "replaced")]
    return ImportOutcome(changes, sentence, unit, figures, found.left_out, remarks)
