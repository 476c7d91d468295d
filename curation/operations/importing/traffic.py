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


def traffic_outcome(traffic_import: TrafficImport) -> ImportOutcome:
    sentence = (
        "Imported the log." if traffic_import.is_new else "Nothing changed: the project has this log already."
    )
    figures = {
        "queries asked": traffic_import.traffic,
        "rows": traffic_import.rows,
        "distinct queries": traffic_import.queries,
    }
    figures |= {"sessions": traffic_import.sessions, "segments": traffic_import.segments}
    remarks = [fields_used(traffic_import.fields), *_files(traffic_import)]
    if traffic_import.first and traffic_import.last:
        remarks.append(
            f"From {traffic_import.first:%d %b %Y %H:%M} to {traffic_import.last:%d %b %Y %H:%M} UTC."
        )
    remarks += [
        *_times(traffic_import),
        *personal_data(traffic_import.personal, "rows", "not stored"),
        *replaced(traffic_import.replaced),
    ]
    return ImportOutcome(traffic_import.is_new, sentence, "rows", figures, traffic_import.left_out, remarks)


def _files(traffic_import: TrafficImport) -> Iterable[str]:
    if traffic_import.files:
        before = f"; {traffic_import.files.known:,} were read before" if traffic_import.files.known else ""
        yield f"{amount(traffic_import.files.read, 'file was', 'files were')} read{before}."
        if traffic_import.files.gone:
            yield (
                f"{amount(traffic_import.files.gone, 'file is', 'files are')} no longer there; the rows stay."
            )
        if traffic_import.files.same:
            names = listed(
                [f"{name} (the same as {first})" for name, first in traffic_import.files.same.items()], SHOWN
            )
            yield f"Not read again, for this content was read by another name: {names}."


def _times(traffic_import: TrafficImport) -> Iterable[str]:
    if traffic_import.fields.time and traffic_import.unknown_times:
        example = f", such as {traffic_import.unreadable_time}" if traffic_import.unreadable_time else ""
        yield (
            f"{amount(traffic_import.unknown_times, 'row has', 'rows have')} no time that could be "
            f"read{example}."
        )
        if traffic_import.unreadable_time and traffic_import.fields.date_order is None:
            yield DATE_ORDER
    if traffic_import.same_source:
        yield f"Note: {earlier_imports(traffic_import.same_source)} as well."


def earlier_imports(number: int) -> str:
    """How many files of the same name the project has, as a part of a sentence."""
    one, many = "earlier import of a file of this name counts", "earlier imports of files of this name count"
    return amount(number, one, many)
