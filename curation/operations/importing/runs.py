"""The import of a run: the call, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from curation.core.progress import Progress
from curation.core.text import amount
from curation.ingest.importers.run_import import RunImport, import_run
from curation.ingest.picking.outcome import ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.fields import RunFields
from curation.operations.importing.sentences import fields_used
from curation.store import Store


def run(store: Store, request: ImportRequest, progress: Progress, author: str) -> RunImport:
    """A run of the option `name`; `skip_unknown` and `skip_repeated` leave lines out."""
    options = request.options
    return import_run(
        store,
        request.file,
        str(options.get("name") or ""),
        request.columns_of(RunFields),
        request.layout,
        skip_unknown=bool(options.get("skip_unknown")),
        skip_repeated=bool(options.get("skip_repeated")),
        progress=progress,
        author=author,
    )


def run_outcome(found: RunImport) -> ImportOutcome:
    places = f"{amount(found.entries, 'place')} for {amount(found.queries, 'query', 'queries')}"
    sentence = f"Nothing changed: the project has this run {found.name!r} with {places}."
    if found.is_new:
        sentence = f"Imported the run {found.name!r}: {places}. A pool names it as run:{found.name}."
    figures = {"places": found.entries, "queries": found.queries}
    return ImportOutcome(found.is_new, sentence, "lines", figures, found.left_out, list(_about_run(found)))


def _about_run(found: RunImport) -> Iterable[str]:
    yield f"Read as {found.format}. {fields_used(found.fields)}"
    if found.mapped:
        yield f"{found.mapped:,} ids are prefixed or encoded, as in exports, and were mapped back."
    if found.unordered:
        one = "query was not in the order of its ranks and was"
        many = "queries were not in the order of their ranks and were"
        yield f"{amount(found.unordered, one, many)} reordered."
    if found.gaps:
        order = "score, as in trec_eval" if found.fields.score else "rank"
        yield (
            f"Note: for {amount(found.gaps, 'query', 'queries')} ranks are missing. These lists are ordered "
            f"by {order}. Compare the number of places with the original if lines may have been lost."
        )
    if found.against_scores:
        yield (
            f"Note: for {amount(found.against_scores, 'query', 'queries')} the scores contradict the ranks. "
            "The ranks count here; trec_eval would go by the scores."
        )
