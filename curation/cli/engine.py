"""`goldgrade engine`: the search engines that a team runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, command_group, project_store

if TYPE_CHECKING:
    from curation.retrieval.engines.asking import EngineTrial

engine = command_group("engine", "Add search engines that answer over HTTP, and try them.")

BEGINS = 60
"""Characters of a field that are shown."""
EngineName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the engine, such as shop.")]


@engine.command("add")
def engine_add(
    name: EngineName,
    file: Annotated[Path, typer.Argument(help="YAML file with what differs from the kind's template.")],
    kind: Annotated[
        str,
        typer.Option(
            help="Kind of engine. One of opensearch, solr, vespa, typesense, and http for any other."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Add an engine, or give it another template.

    It says how the engine is asked, and where its answers have ids, scores and fields. Nothing is sent.

    Its address is the variable GOLDGRADE_ENGINE_NAME_URL, its key GOLDGRADE_ENGINE_NAME_KEY, with its name in
    capitals. Neither is stored. Adding it again with another file replaces the template; runs keep theirs.

    \b
    Examples:
      goldgrade engine add shop --kind opensearch shop.yaml
      goldgrade engine add page --kind http search-page.yaml
    """
    from curation.retrieval.engines.stored import add_engine

    found = add_engine(project_store(), name, kind, file)
    done = "is added" if found.is_new else "is as it was"
    emit(
        as_json,
        found,
        f"The engine {name} ({kind}) {done}. Set GOLDGRADE_ENGINE_{name.upper()}_URL, and _KEY where it "
        "needs "
        f'one. Then: goldgrade engine try {name} "some query"',
    )


@engine.command("try")
def engine_try(
    name: EngineName,
    query: Annotated[str, typer.Argument(help="Text to search for. It is sent redacted.")],
    depth: Annotated[int, typer.Option(min=1, help="Documents to ask for.")] = 10,
    as_json: Json = False,
) -> None:
    """Ask an engine once, and show what comes.

    That is the request, the hits and the first document. Nothing is stored.

    \b
    Examples:
      goldgrade engine try shop "red shoes"
      goldgrade engine try shop "red shoes" --depth 3 --json
    """
    from curation.retrieval.engines.asking import try_engine

    found = try_engine(project_store(), name, query, depth)
    emit(as_json, found, lambda: _show(found))


def _show(engine_trial: EngineTrial) -> None:
    hits, documents = engine_trial.hits, engine_trial.documents
    say(
        f"{engine_trial.request.method} {engine_trial.request.path}",
        *filter(None, [engine_trial.request.body]),
    )
    titles = {one: document.text[:BEGINS] for one, document in documents.items()}
    scores = dict(zip(hits.ids, hits.scores or (), strict=False))
    rows = [(place, one, scores.get(one), titles.get(one)) for place, one in enumerate(hits.ids, 1)]
    table(f"Hits of {engine_trial.host}, {hits.seconds:.3f} s", ["place", "id", "score", "document"], rows)
    say(
        *filter(None, [hits.left_out]),
        *(f"{count:,} × {why}." for why, count in engine_trial.left_out.items()),
    )
    if first := next(iter(documents.values()), None):
        kept = [(f"metadata {name}", str(value)) for name, value in json.loads(first.metadata).items()]
        fields = [*zip(first._fields[2:-1], first[2:-1], strict=True), *kept]
        table(
            "The first document",
            ["field", "begins"],
            [(name, text and text[:BEGINS]) for name, text in fields],
        )
