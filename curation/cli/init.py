"""`goldgrade init`: make a project, or build the demo."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from curation.cli.invocation import project_path, refuse_others
from curation.cli.output import emit, note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.core import default_paths
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.core.text import pluralize


@app.command()
def init(
    context: Context,
    guide: Annotated[
        Path | None,
        Option(help="Labeling guide: a file, or the name of a shipped guide.", show_default="grades 0 to 3"),
    ] = None,
    demo: Annotated[
        Path | None, Option(metavar="FOLDER", help="Folder in which to build the demo, such as data/demo.")
    ] = None,
    demo_files: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Only write the demo's corpus, log and grades to this folder."),
    ] = None,
) -> None:
    """Create a project with the grade scale of a labeling guide.

    \b
    Examples:
      goldgrade --project data/shop.duckdb init --guide binary
      goldgrade init --demo data/demo
    """
    for name, path in (("demo", demo), ("demo_files", demo_files)):
        if path is not None:
            option = f"--{name.replace('_', '-')}"
            refuse_others(context, f"{option} cannot be combined with other options", name)
            _make_folder(option, path)
    if demo is not None:
        _build_demo(demo)
    elif demo_files is not None:
        _write_demo_files(demo_files)
    else:
        _make_project(guide)


def _make_folder(option: str, folder: Path) -> None:
    """Make the folder of an option, or refuse a folder that cannot be made or written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(folder, os.W_OK) else "Permission denied"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        problem = f"{option} {folder}: the folder cannot be made or written ({reason})"
        raise InputError(f"{problem}. Name a writable folder, such as data/demo.")


def _make_project(path: Path | None) -> None:
    from curation.guides.guide import current_guide
    from curation.operations.project import init_project

    store = init_project(project_path(), path)
    guide = store.read(current_guide)
    scale = [grade.model_dump() for grade in guide.scale]
    result = {"project": store.path, "guide": guide.title, "guide_hash": guide.guide_hash, "scale": scale}
    rows = tuple((grade.value, grade.name, grade.key, grade.definition) for grade in guide.scale)
    table = Table("Grade scale", ("grade", "name", "key", "definition"), rows)
    sentences = (
        f"Created {store.path} with the guide “{guide.title}”.",
        "Next: goldgrade app prints a link by which you make the first account.",
        "Or by commands: goldgrade import corpus PATH",
    )
    show(PlainResult(sentences, (table,)), as_json=result)


def _build_demo(folder: Path) -> None:
    from curation.operations.demo import PASSWORD, PEOPLE, build_demo

    started_at = time.monotonic()
    with progress_bar() as progress:
        sample = default_paths.SAMPLE
        project, is_new = build_demo(folder, sample, lambda step: note(f"demo: {step}"), progress)
    seconds = time.monotonic() - started_at if is_new else 0.0
    rows = tuple((name, PASSWORD, role) for name, role in PEOPLE.items())
    state = f"built in {seconds:.0f} s:" if is_new else "found"
    sentences = (f"demo: {state} {project}", f"Next: goldgrade --project {project} app --browser")
    result = PlainResult(sentences, (Table("Sign in as", ("name", "password", "role"), rows),))
    show(result, as_json={"project": project, "built": is_new, "seconds": seconds})


def _write_demo_files(folder: Path) -> None:
    from curation.operations.stdlib_corpus import write_stdlib_corpus

    corpus = folder / "stdlib.jsonl"
    documents = write_stdlib_corpus(corpus)
    files = [Path(shutil.copy(file, folder)).name for file in sorted(default_paths.SAMPLE.glob("*.csv"))]
    sentence = f"Wrote {pluralize(documents, 'document')} to {corpus}, and {', '.join(files)}."
    emit({"corpus": corpus, "documents": documents, "files": files}, sentence)
