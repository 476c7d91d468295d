"""Imports of documents, traffic, queries and reference answers: the call, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from curation.errors import InputError
from curation.files.fields import CorpusFields, NuggetFields, QueryFields, ReferenceFields, TrafficFields
from curation.files.lines import DIGITS, REPLACED_BY
from curation.guides.guide import AS_BEFORE, BodyKind, PresentationTemplate, current_guide
from curation.guides.versions import with_presentation
from curation.imports.look import LOOKED_AT, look_at
from curation.imports.outcome import ImportOutcome
from curation.imports.request import ImportRequest
from curation.labeling.rounds.lifecycle import KEEP, put_in_force
from curation.labeling.transfers.outside import withdraw_outside
from curation.presentation.written_in import MARKUPS, markup_of
from curation.progress import Progress
from curation.sources.answers.nuggets import import_nuggets
from curation.sources.answers.query_rows import QueryItemsImport
from curation.sources.answers.reference_answers import import_answers
from curation.sources.corpus import CorpusImport, import_corpus
from curation.sources.left.leaving import leave_corpus
from curation.sources.query_import import QueryImport, import_queries
from curation.sources.traffic.cleaning import CleaningRules
from curation.sources.traffic.log_files import import_log_files, is_of_files
from curation.sources.traffic.traffic_import import DATE_ORDER, TrafficImport, import_traffic
from curation.store import Store
from curation.store.documents import first_documents
from curation.text import amount, counted, listed

SHOWN = 10


def corpus(store: Store, request: ImportRequest, progress: Progress, author: str) -> CorpusImport:
    """Documents; the option `add` keeps those of the corpus in force, `titles_only` takes them without text.

    With `leave` the texts stay where they are: in a file, a folder or at an address. `markup` is what the
    text is written in; without it, it is found.
    """
    markup = request.options.get("markup")
    if markup not in (None, *MARKUPS):
        raise InputError(f"--markup is {markup!r}; expected one of {', '.join(MARKUPS)}.")
    fields = request.columns_of(CorpusFields, titles_only=bool(request.options.get("titles_only")))
    add = bool(request.options.get("add"))
    if request.options.get("leave"):
        if add:
            raise InputError("--leave takes a whole corpus, and no --add. Put the files into one folder.")
        found = leave_corpus(store, request.path, fields, request.layout, progress, author, withdraw_outside)
        with store.reading() as cursor:
            seen = markup_of(document.body for document in first_documents(cursor, LOOKED_AT))
    else:
        found = import_corpus(
            *(store, request.file, fields, request.layout),
            add=add,
            progress=progress,
            author=author,
            withdraw=withdraw_outside,
        )
        seen = look_at(request).markup_of(found.fields.body)
    shown = tuple(one for one in AS_BEFORE.fields if getattr(found.fields, one.field))
    before = PresentationTemplate(fields=shown)
    return replace(found, shown=_show_as(store, markup, seen, before, author))


def _show_as(
    store: Store, asked: BodyKind | None, seen: BodyKind, before: PresentationTemplate, author: str
) -> str:
    """Have the guide draw the text of documents as asked, or as seen where it says nothing of documents.

    `before` is what it shows of them where it says nothing.

    Returns what changes, or what may be wrong, as a sentence; '' where all is as it should be.
    """
    with store.reading() as cursor:
        guide = current_guide(cursor)
    held = guide.presentation
    kind: BodyKind = asked or (seen if held is None else held.body)
    if kind != (held or PresentationTemplate()).body:
        changed = with_presentation(guide, (held or before).model_copy(update={"body": kind}))
        done = put_in_force(store, changed, author, KEEP, f"The text of the corpus is {MARKUPS[kind]}.")
        kept = f" Open rounds keep their guide: {', '.join(done.kept)}." if done.kept else ""
        return f"The guide shows documents as {MARKUPS[kind]}.{kept}"
    if asked is None and kind != seen:
        seems = f"The text looks like {MARKUPS[seen]}, and the guide shows it as {kind}."
        return f"{seems} Say --markup {seen} if that is wrong."
    return ""


def corpus_outcome(found: CorpusImport) -> ImportOutcome:
    sentence = f"The corpus now has {amount(found.documents, 'document')}."
    if not found.is_new:
        sentence = f"Nothing changed: the project has the same {amount(found.documents, 'document')}."
    figures = {"documents": found.documents, "added": found.added, "changed": found.changed}
    figures |= {"removed": found.removed, "unchanged": found.unchanged}
    remarks = [
        f"The stored version of the corpus is {found.snapshot}.",
        fields_used(found.fields, "all others are metadata"),
    ]
    if found.without_text:
        have = amount(found.without_text, "document has", "documents have")
        remarks.append(f"{have} no text: judged by title alone.")
    remarks += [*filter(None, [found.shown]), *_withdrawn(found.withdrawn), *replaced(found.replaced)]
    return ImportOutcome(found.is_new, sentence, "documents", figures, found.left_out, remarks)


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
    remarks += [*_times(found), *_personal(found.personal, "rows", "not stored"), *replaced(found.replaced)]
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


def queries(store: Store, request: ImportRequest, progress: Progress, author: str) -> QueryImport:
    """Queries besides the sample."""
    fields = request.columns_of(QueryFields)
    return import_queries(store, request.file, fields, request.layout, progress, author, withdraw_outside)


def queries_outcome(found: QueryImport) -> ImportOutcome:
    counts = {"added": found.added, "changed": found.changed, "unchanged": found.unchanged}
    changes = bool(found.added or found.changed or found.answers or found.tags_added)
    sentence = f"Nothing changed: the project has the same {amount(found.queries, 'query', 'queries')}."
    if changes:
        shown = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        sentence = f"{amount(found.queries, 'query', 'queries')}: {shown}."
    remarks = [fields_used(found.fields, "all others are metadata")]
    remarks += [known_sentence(found.known_as)] if found.known_as else []
    if found.answers:
        remarks.append(f"{amount(found.answers, 'query', 'queries')} got new reference answers.")
    if found.tags:
        shown = listed([f"{tag} {count:,}" for tag, count in found.tags.items()], SHOWN)
        new = (
            f" The project's own tags now include {listed(found.declared, SHOWN)}." if found.declared else ""
        )
        remarks.append(f"Tags of the queries: {shown}. {found.tags_added:,} of them are new.{new}")
    remarks += [*_personal(found.personal, "queries", "replaced"), *replaced(found.replaced)]
    remarks += _withdrawn(found.withdrawn)
    return ImportOutcome(
        changes, sentence, "queries", {"queries": found.queries} | counts, found.left_out, remarks
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
    remarks = [fields_used(found.fields), *_personal(found.personal, unit, "replaced")]
    return ImportOutcome(changes, sentence, unit, figures, found.left_out, remarks)


def fields_used(fields: Any, rest: str = "") -> str:
    """The columns that were read; `rest` says what became of the others."""
    used = ", ".join(f"{name} {column}" for name, column in fields.used.items())
    others = f"; {rest}" if rest else ""
    if not rest and fields.unused:
        others = f"; not used: {listed(fields.unused, SHOWN)}"
    return f"Fields used: {used}{others}."


def replaced(found: Mapping[str, int]) -> list[str]:
    """Sentences about what no database keeps: characters, bytes that are no text, and zones nobody knows."""
    digits = found.get(DIGITS, 0)
    ids = amount(digits, "id has", "ids have")
    said = [f"{ids} more than 15 digits. A spreadsheet keeps 15: the others may be wrong."] if digits else []
    found = {kind: count for kind, count in found.items() if kind != DIGITS}
    by = {kind: next(by for begin, by in REPLACED_BY.items() if kind.startswith(begin)) for kind in found}
    sentences = [f"Replaced: {count:,} × {kind}, by {by[kind]}." for kind, count in found.items()]
    return sentences + said


def _withdrawn(items: int) -> list[str]:
    are = amount(items, "item of a round is", "items of rounds are")
    return [f"{are} outside the filter of the query now, and nobody is asked for them."] if items else []


def _personal(found: Mapping[str, int], unit: str, what: str) -> list[str]:
    return [f"Personal data, {what}: {counted(count, unit)} with {kind}." for kind, count in found.items()]
