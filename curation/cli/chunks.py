"""`goldgrade chunks`: the chunks of an index, mapped once to the documents of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.import_.options import field
from curation.cli.output import emit, progress_bar, refuse_no_page, say
from curation.cli.program import AnyRelease, Json, app, release_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.evaluation.scoring.inputs.chunk_map import ChunkMap


@app.command()
def chunks(
    name: AnyRelease,
    splitter: Annotated[
        Path,
        typer.Option(
            help="The table of chunks that a splitter wrote. It has chunk_id, document_id, and start and end "
            "in characters or the chunk's text as chunk_text."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write the map of chunks to. It is CSV.")],
    chunk_field: Annotated[str | None, field("the chunk's id", "chunk_id, id, node_id")] = None,
    document_field: Annotated[str | None, field("the document's id", "document_id, doc_id")] = None,
    start_field: Annotated[str | None, field("where a chunk starts", "start, start_index")] = None,
    end_field: Annotated[str | None, field("where it ends", "end, end_index")] = None,
    text_field: Annotated[str | None, field("its text", "chunk_text, chunk, passage")] = None,
    no_overlap: Annotated[bool, typer.Option("--no-overlap", help="Refuse chunks that overlap.")] = False,
    as_json: Json = False,
) -> None:
    """Map an index's chunks to a release's documents.

    Runs that have the index's own chunk ids can be evaluated with the map: evaluate --chunk-map. A text is
    looked for in its document as it is, then with other white space and case. What is not found is counted,
    and has no place in the map. Of a text that is there several times the map keeps how many places it may
    be at. Each chunk keeps the version of its document: map again after a freeze.

    \b
    Examples:
      goldgrade chunks v1 --splitter index.jsonl --out chunks.csv
      goldgrade chunks v1 --splitter nodes.csv --chunk-field node --text-field page_content --out chunks.csv
      goldgrade chunks v1 --splitter windows.csv --out chunks.csv --no-overlap --json
    """
    from curation.evaluation.scoring.inputs.chunk_map import SplitterFields, map_chunks

    fields = SplitterFields(
        document=document_field, start=start_field, end=end_field, text=text_field, chunk=chunk_field
    )
    store = release_store()
    refuse_no_page(out, store.path, "--out", "file")
    with progress_bar() as progress:
        found = map_chunks(store, name, splitter, out, fields, no_overlap, progress)
    emit(as_json, found, lambda: _show(found))


def _show(chunk_map: ChunkMap) -> None:
    counts = chunk_map.counts
    say(
        f"{amount(counts.chunks - counts.not_found, 'chunk')} of {amount(chunk_map.documents, 'document')} "
        "of "
        f"{chunk_map.release} in {chunk_map.file}."
    )
    say(*counts.sentences())
    if chunk_map.overlapping:
        say(f"{amount(chunk_map.overlapping, 'chunk')} begin before the one before them ends.")
    say(f"release id: {chunk_map.release_id}")
