"""`goldgrade import collection`: documents, queries and judgments of a test collection at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.import_.options import Encoding
from curation.cli.output import emit, progress_bar, say, say_dry_run, table
from curation.cli.program import Json, project_store
from curation.core.text import plain

if TYPE_CHECKING:
    from curation.ingest.picking.outcome import ImportOutcome
    from curation.operations.importing.collection import CollectionImport

AUTO = "auto"


def import_collection_command(
    path: Annotated[
        Path, typer.Argument(help="A folder with the collection's files, a zip of it, or one file.")
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format", help="Format of the files: trec, smart, srw, beir, hf or auto. With auto it is found."
        ),
    ] = AUTO,
    annotator: Annotated[
        str | None, typer.Option(help="Annotator of all grades. Needed where the collection has judgments.")
    ] = None,
    grade_map: Annotated[
        str | None,
        typer.Option(help="Grades of another scale: 1=3,0=0. A value may be cannot-tell or no-grade."),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            help="Leave out judgments about what the project does not have. That is, of its documents "
            "and query ids.",
        ),
    ] = False,
    add: Annotated[
        bool,
        typer.Option("--add", help="Add to the current corpus. Without it the documents are the new corpus."),
    ] = False,
    encoding: Encoding = "utf-8",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what each file is taken for and what would be imported.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Import a test collection.

    It has documents, queries with information needs, and judgments.

    TREC's SGML and XML, SMART, judgment lists and query sets of the Search Relevance Workbench, folders of
    BEIR and Hugging Face, and LlamaIndex's pairs for embeddings are known. The command says what each file
    was taken for, and which files it passed over. All is rehearsed on a copy of the project first: if
    anything is wrong, nothing is imported.

    \b
    Examples:
      goldgrade import collection beir/scifact --annotator scifact --grade-map 1=3 --dry-run
      goldgrade import collection cisi --annotator cisi --grade-map 1=2
      goldgrade import collection trec-robust --annotator nist --encoding latin-1 --skip-unknown
      goldgrade import collection judgments.json --format srw --annotator esci --grade-map 100=3,10=2,1=1,0=0
    """
    from curation.ingest.importers.value_maps import parse_grade_map
    from curation.operations.importing.collection import CollectionOptions, import_collection

    options = CollectionOptions(
        None if format == AUTO else format,
        annotator,
        parse_grade_map(grade_map) if grade_map else None,
        skip_unknown,
        add,
        encoding,
    )
    with progress_bar() as progress:
        found = import_collection(project_store(), path, options, dry_run=dry_run, progress=progress)
    result = plain(found) | {"dry_run": dry_run}
    emit(as_json, result, lambda: _show_collection(found, path, dry_run))


def _show_collection(found: CollectionImport, path: Path, dry_run: bool) -> None:
    from curation.ingest.picking.collection_files import DOCUMENTS
    from curation.operations.importing.corpus import corpus_outcome
    from curation.operations.importing.judgments import judgments_outcome
    from curation.operations.importing.queries import queries_outcome

    say_dry_run(dry_run)
    paths = [*(file.path for file in found.files), *(file.path for file in found.passed)]
    root = path if any(path in one.parents for one in paths) else path.parent
    rows = [(file.path.relative_to(root).as_posix(), file.found) for file in found.files]
    rows += [(one.path.relative_to(root).as_posix(), f"passed over: {one.why}") for one in found.passed]
    table(f"Files of {path.name}", ["file", "taken for"], rows)
    documents = [file.path.name for file in found.files if file.kind == DOCUMENTS]
    others = [file.path.name for file in found.files if file.kind != DOCUMENTS]
    if found.corpus is not None:
        many = f"{len(documents):,} files of documents"
        _say_outcome(many if len(documents) > 1 else documents[0], corpus_outcome(found.corpus))
    outcomes = [*map(queries_outcome, found.queries), *map(judgments_outcome, found.judgments)]
    for name, outcome in zip(others, outcomes, strict=True):
        _say_outcome(name, outcome)


def _say_outcome(name: str, outcome: ImportOutcome) -> None:
    say(f"{name}: {outcome.sentence}", *outcome.sentences[1:])
