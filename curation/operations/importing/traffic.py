"""The import of a log: the call, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable

from curation.core.progress import Progress
from curation.core.text import amount, listed
from curation.ingest.importers.traffic.clean_log import DATE_ORDER
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.importers.traffic.log_files import import_log_files, is_of_files
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.picking.outcome import ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.fields import TrafficFields
from curation.operations.importing.sentences import SHOWN, fields_used, personal_data, replaced
from curation.store import Store


def traffic(store: Store, request: ImportRequest, progress: Progress, author: str) -> TrafficImport:
    """A log, be it a file, a folder or in a storage; the option `rules` has parts of `CleaningRules`."""
    fields = request.columns_of(TrafficFields, date_order=request.options.get("date_order"))
    rules = CleaningRules(**request.options.get("rules", {}))
    if is_of_files(request.path):
        return import_log_files(store, request.path, fields, request.layout, progress, rules, author)
    return import_traffic(store, request.file, fields, request.layout, progress, rules, author)


def traffic_outcome(found: TrafficImport) -> ImportOutcome:
    sentence = "Imported the log." if found.is_new else "Nothing changed: the project has this log already."
    figures = {"queries asked": found.traffic, "rows": found.rows, "distinct queries": found.queries}
    figures |= {"sessions": found.sessions, "segments": found.segments}
    remarks = [fields_used(found.fields), *_files(found)]
    if found.first and found.last:
        remarks.append(f"From {found.first:%d %b %Y %H:%M} to {found.last:%d %b %Y %H:%M} UTC.")
    remarks += [
        *_times(found),
        *personal_data(found.personal, "rows", "not stored"),
        *replaced(found.replaced),
    ]
    return ImportOutcome(found.is_new, sentence, "rows", figures, found.left_out, remarks)


def _files(found: TrafficImport) -> Iterable[str]:
    if found.files:
        before = f"; {found.files.known:,} were read before" if found.files.known else ""
        yield f"{amount(found.files.read, 'file was', 'files were')} read{before}."
        if found.files.gone:
            yield f"{amount(found.files.gone, 'file is', 'files are')} no longer there; the rows stay."
        if found.files.same:
            names = listed(
                [f"{name} (the same as {first})" for name, first in found.files.same.items()], SHOWN
            )
            yield f"Not read again, for this content was read by another name: {names}."


def _times(found: TrafficImport) -> Iterable[str]:
    if found.fields.time and found.unknown_times:
        example = f", such as {found.unreadable_time}" if found.unreadable_time else ""
        yield f"{amount(found.unknown_times, 'row has', 'rows have')} no time that could be read{example}."
        if found.unreadable_time and found.fields.date_order is None:
            yield DATE_ORDER
    if found.same_source:
        yield f"Note: {earlier_imports(found.same_source)} as well."


def earlier_imports(number: int) -> str:
    """How many files of the same name the project has, as a part of a sentence."""
    one, many = "earlier import of a file of this name counts", "earlier imports of files of this name count"
    return amount(number, one, many)
