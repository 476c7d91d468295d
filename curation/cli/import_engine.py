"""Imports from a search engine: `goldgrade import engine`, and the other imports that query an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Context, Option

from curation.cli.invocation import project_store, refuse_others, refuse_unused
from curation.cli.output import emit, note, show
from curation.cli.progress import progress_bar
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table

if TYPE_CHECKING:
    from curation.retrieval.engines.trial import EngineTrial
    from curation.store import Document

Rate = Annotated[float, Option(help="Maximum number of requests per second to the engine.")]
MAX_SHOWN = 60
"""Characters that a trial of an engine prints of each field of a document."""


def import_engine_command(
    context: Context,
    name: Annotated[str, Argument(help="Name of the engine, such as shop.")],
    file: Annotated[
        Path | None,
        Argument(
            help="YAML file with changes to this engine's template. Leave FILE out with --try.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str | None, Option(help="Kind of engine. opensearch, solr, vespa, typesense, or http for any other.")
    ] = None,
    query: Annotated[
        str | None,
        Option(
            "--try",
            help="Send this text to the engine once and show the response. The text is sent redacted.",
        ),
    ] = None,
    depth: Annotated[int, Option(min=1, help="Number of documents that --try asks for.")] = 10,
) -> None:
    """Add an engine, or replace its template. The template says how to query the engine, and where its
    responses contain ids, scores and fields. Nothing is sent.

    The variable GOLDGRADE_ENGINE_NAME_URL has the address of the engine, and GOLDGRADE_ENGINE_NAME_KEY has
    its key, with the name in capitals. Neither is stored. Adding an engine again with a different file
    replaces the template; runs keep their template.

    With --try the command queries the engine once, and shows the request, the hits and the first document.
    Nothing is stored.

    \b
    Examples:
      goldgrade import engine shop shop.yaml --kind opensearch
      goldgrade import engine page search-page.yaml --kind http
      goldgrade import engine shop --try "red shoes" --depth 3
    """
    if query is not None:
        refuse_unused(context, "--try adds no engine", "file", "kind")
        _try_engine(name, query, depth)
        return
    refuse_unused(context, "no query is sent; name a text with --try", "depth")
    if file is None or kind is None:
        raise BadParameter("name the engine's file and its --kind, or a text with --try")
    _add_engine(name, kind, file)


def _add_engine(name: str, kind: str, file: Path) -> None:
    from curation.retrieval.engines.stored_engines import add_engine

    engine, is_new = add_engine(project_store(), name, kind, file)
    state = "is added" if is_new else "is unchanged"
    variable = f"GOLDGRADE_ENGINE_{name.upper()}_URL"
    emit(
        {"name": name, "kind": kind, "template_hash": engine.template.template_hash, "is_new": is_new},
        f"The engine {name} ({kind}) {state}. Set {variable}, and the same name with _KEY if the engine "
        "needs a key. "
        f'Then: goldgrade import engine {name} --try "some query"',
    )


def _try_engine(name: str, query: str, depth: int) -> None:
    from curation.retrieval.engines.trial import try_engine

    trial = try_engine(project_store(), name, query, depth)
    tables = [_build_hit_table(trial), *map(_build_document_table, list(trial.documents.values())[:1])]
    sentences = [f"{trial.request.method} {trial.request.path}", trial.request.body, trial.hits.left_out]
    sentences += [f"{count:,} × {reason}." for reason, count in trial.left_out.items()]
    show(PlainResult(tuple(filter(None, sentences)), tuple(tables)), as_json=trial)


def _build_hit_table(trial: EngineTrial) -> Table:
    """Make a table of the hits, with the beginnings of the documents that the engine sent."""
    hits = trial.hits
    texts = {document_id: document.text[:MAX_SHOWN] for document_id, document in trial.documents.items()}
    scores = dict(zip(hits.ids, hits.scores or (), strict=False))
    rows = tuple((rank, hit, scores.get(hit), texts.get(hit)) for rank, hit in enumerate(hits.ids, 1))
    caption = f"Hits of {trial.host}, {hits.seconds:.3f} s"
    return Table(caption, ("place", "id", "score", "document"), rows)


def _build_document_table(document: Document) -> Table:
    """Make a table of the beginnings of a document's fields."""
    fields = dict(zip(document._fields[2:-1], document[2:-1], strict=True))
    fields |= {f"metadata {name}": str(value) for name, value in json.loads(document.metadata).items()}
    rows = tuple((name, text and text[:MAX_SHOWN]) for name, text in fields.items())
    return Table("The first document", ("field", "begins"), rows)


def is_from_engine(
    context: Context, option: str, engine: str | None, path: str | None, *engine_options: str
) -> bool:
    """Return whether the command imports from an engine instead of a file; reject the options that do not
    fit.

    Parameters
    ----------
    option: the option that names the engine.
    engine_options: options that only an engine needs.
    """
    flag = f"--{option}"
    if engine is not None:
        why = f"{flag} queries an engine, so it takes no file"
        refuse_others(context, why, option, "name", *engine_options)
        return True
    refuse_unused(context, f"no engine is named with {flag}", *engine_options)
    if path is None:
        raise BadParameter(f"name a file, or an engine with {flag}")
    return False


def refresh_from_engine(engine: str, rate: float) -> None:
    """Fetch an engine's documents again."""
    from curation.retrieval.engines.documents import refresh_documents

    with progress_bar() as progress:
        show(refresh_documents(project_store(), engine, rate, progress, say=note))


def import_run_from_engine(engine: str, name: str, depth: int, rate: float) -> None:
    """Get the ranked list of each active query from an engine, and store the lists as a run."""
    from curation.retrieval.engines.runs import EngineRunRequest, import_engine_run

    request = EngineRunRequest(engine, name, depth, rate)
    with progress_bar() as progress:
        show(import_engine_run(project_store(), request, progress, say=note))
