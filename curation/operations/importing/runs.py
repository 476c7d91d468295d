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


def run_outcome(run_import: RunImport) -> ImportOutcome:
    places = f"{amount(run_import.entries, 'place')} for {amount(run_import.queries, 'query', 'queries')}"
    sentence = f"Nothing changed: the project has this run {run_import.name!r} with {places}."
    if run_import.is_new:
        sentence = (
            f"Imported the run {run_import.name!r}: {places}. A pool names it as run:{run_import.name}."
        )
    figures = {"places": run_import.entries, "queries": run_import.queries}
    return ImportOutcome(
        run_import.is_new, sentence, "lines", figures, run_import.left_out, list(_about_run(run_import))
    )


def _about_run(run_import: RunImport) -> Iterable[str]:
    yield f"Read as {run_import.format}. {fields_used(run_import.fields)}"
    if run_import.mapped:
        yield f"{run_import.mapped:,} ids are prefixed or encoded, as in exports, and were mapped back."
    if run_import.unordered:
        one = "query was not in the order of its ranks and was"
        many = "queries were not in the order of their ranks and were"
        yield f"{amount(run_import.unordered, one, many)} reordered."
    if run_import.gaps:
        order = "score, as in trec_eval" if run_import.fields.score else "rank"
        yield (
            f"Note: for {amount(run_import.gaps, 'query', 'queries')} ranks are missing. These lists are "
            "ordered "
            f"by {order}. Compare the number of places with the original if lines may have been lost."
        )
    if run_import.against_scores:
        yield (
            f"Note: for {amount(run_import.against_scores, 'query', 'queries')} the scores contradict the "
            "ranks. "
            "The ranks count here; trec_eval would go by the scores."
        )
