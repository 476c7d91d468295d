"""The import of documents: the call, how the guide shows them then, and what came of it."""

from __future__ import annotations

from dataclasses import replace

from curation.core.errors import InputError
from curation.core.progress import Progress
from curation.core.text import amount
from curation.guides.guide import current_guide
from curation.guides.presentation_template import AS_BEFORE, BodyKind, PresentationTemplate
from curation.guides.write_guide import with_presentation
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.left.leaving import leave_corpus
from curation.ingest.picking.file_preview import LOOKED_AT, preview_file
from curation.ingest.picking.outcome import ImportOutcome
from curation.ingest.picking.request import ImportRequest
from curation.ingest.readers.fields import CorpusFields
from curation.labeling.presentation.written_in import MARKUPS, markup_of
from curation.labeling.rounds.guide_in_force import KEEP, put_in_force
from curation.labeling.transfers.outside import withdraw_outside
from curation.operations.importing.sentences import fields_used, replaced, withdrawn
from curation.store import Store
from curation.store.documents import first_documents


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
        seen = markup_of(preview_file(request).texts_in(found.fields.body))
    shown = tuple(field for field in AS_BEFORE.fields if getattr(found.fields, field.field))
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


def corpus_outcome(corpus_import: CorpusImport) -> ImportOutcome:
    sentence = f"The corpus now has {amount(corpus_import.documents, 'document')}."
    if not corpus_import.is_new:
        sentence = f"Nothing changed: the project has the same {amount(corpus_import.documents, 'document')}."
    figures = {
        "documents": corpus_import.documents,
        "added": corpus_import.added,
        "changed": corpus_import.changed,
    }
    figures |= {"removed": corpus_import.removed, "unchanged": corpus_import.unchanged}
    remarks = [
        f"The stored version of the corpus is {corpus_import.snapshot}.",
        fields_used(corpus_import.fields, "all others are metadata"),
    ]
    if corpus_import.without_text:
        have = amount(corpus_import.without_text, "document has", "documents have")
        remarks.append(f"{have} no text: judged by title alone.")
    remarks += [
        *filter(None, [corpus_import.shown]),
        *withdrawn(corpus_import.withdrawn),
        *replaced(corpus_import.replaced),
    ]
    return ImportOutcome(
        corpus_import.is_new, sentence, "documents", figures, corpus_import.left_out, remarks
    )
