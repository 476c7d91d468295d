"""The commands about a whole project: `init`, `status`, `backup`, `restore` and `doctor`."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.cli.invocation import project_path, project_store
from curation.cli.options import refuse_others, switch
from curation.cli.output import emit, note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.core import default_paths
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.core.text import pluralize


@app.command()
def doctor(
    folder: Annotated[list[Path] | None, typer.Option(help="A folder of exports. Repeatable.")] = None,
    clean: Annotated[bool, switch("--clean", "Remove leftovers of killed processes.")] = False,
) -> None:
    """Examine the project while it is in use. The exit code is 1 if you must act.

    The doctor reads the whole file. The doctor also checks the log, permissions, disk, versions, the sums of
    releases, jobs without an end, leftovers of killed processes, backups, and the clock.

    \b
    Examples:
      goldgrade doctor
      goldgrade doctor --folder exports --clean
      goldgrade doctor --json
    """
    from curation.operations.doctor import examine

    examination = examine(project_path(), folder or [], clean=clean)
    show(examination)
    if examination.problems:
        raise typer.Exit(1)


@app.command()
def backup(
    file: Annotated[
        str,
        typer.Argument(
            help="The new file, or a folder. In a folder the file's name has the time. A folder with / "
            "at its end is made."
        ),
    ],
) -> None:
    """Copy the project to a file while people grade. The checksums of the copy are written next to the copy.

    The command reads the whole copy before the copy gets its name. The copy contains hashes of passwords,
    sealed grades and the key that signs cookies, so only you can read it.

    \b
    Examples:
      goldgrade backup backups/
      goldgrade backup backups/before-autumn.duckdb --json
    """
    from curation.operations.backup import back_up, make_folder

    if file.endswith("/"):
        make_folder(Path(file))
    written = back_up(project_store(), Path(file))
    show(written, f"The backup is in {written.path}.")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A backup.")],
    replace: Annotated[bool, switch("--replace", "Move an existing project aside, and keep it.")] = False,
) -> None:
    """Restore a backup as the project. The backup is compared with its sums and read whole first.

    Sign-ins, passwords and roles are as they were at the time of the backup. Stop the app first: later
    answers are in the project that is moved aside, not in the restored project.

    \b
    Examples:
      goldgrade restore backups/goldgrade-20261123-020000.duckdb --replace
      goldgrade --project data/copy.duckdb restore backups/goldgrade-20261123-020000.duckdb
    """
    from curation.operations.restore import restore as restore_backup

    show(restore_backup(file, project_path(), replace=replace))


@app.command()
def init(
    context: typer.Context,
    guide: Annotated[
        Path | None,
        typer.Option(help="Labeling guide: a file or a shipped guide's name.", show_default="grades 0 to 3"),
    ] = None,
    demo: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Build the demo there, such as in data/demo.")
    ] = None,
    demo_files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Only write the demo's corpus, log and grades there."),
    ] = None,
) -> None:
    """Make a project with a labeling guide's grade scale.

    \b
    Examples:
      goldgrade --project data/shop.duckdb init --guide binary
      goldgrade init --demo data/demo
    """
    for name, path in (("demo", demo), ("demo_files", demo_files)):
        if path is not None:
            refuse_others(context, f"--{name.replace('_', '-')} is asked for alone", name)
    if demo is not None:
        _build_demo(demo)
    elif demo_files is not None:
        _write_demo_files(demo_files)
    else:
        _make_project(guide)


def _make_project(path: Path | None) -> None:
    from curation.guides.guide import current_guide
    from curation.operations.project import init_project

    store = init_project(project_path(), path)
    with store.reading() as cursor:
        guide = current_guide(cursor)
    scale = [grade.model_dump() for grade in guide.scale]
    result = {"project": store.path, "guide": guide.title, "guide_hash": guide.guide_hash, "scale": scale}
    rows = tuple((grade.value, grade.name, grade.key, grade.definition) for grade in guide.scale)
    table = Table("Grade scale", ("grade", "name", "key", "definition"), rows)
    sentences = (
        f"Made {store.path} with the guide “{guide.title}”.",
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
    sentences = (
        f"demo: {f'built in {seconds:.0f} s:' if is_new else 'found'} {project}",
        f"Next: goldgrade --project {project} app --browser",
    )
    result = PlainResult(sentences, (Table("Sign in as", ("name", "password", "role"), rows),))
    show(result, as_json={"project": project, "built": is_new, "seconds": seconds})


def _write_demo_files(folder: Path) -> None:
    from curation.operations.stdlib_corpus import write_stdlib_corpus

    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / "stdlib.jsonl"
    documents = write_stdlib_corpus(corpus)
    files = [Path(shutil.copy(file, folder)).name for file in sorted(default_paths.SAMPLE.glob("*.csv"))]
    sentence = f"Wrote {pluralize(documents, 'document')} to {corpus}, and {', '.join(files)}."
    emit({"corpus": corpus, "documents": documents, "files": files}, sentence)


@app.command()
def status(
    notify: Annotated[
        bool,
        switch(
            "--notify", "Only send the notices that are due, each once. A running app sends notices itself."
        ),
    ] = False,
) -> None:
    """Show the stages of the project, and the next step.

    The status has each stage from import to re-labeling and the last backup, like the page Home. --notify
    sends notices to the address in GOLDGRADE_WEBHOOK; a lead chooses the kinds of notices in the app.

    \b
    Examples:
      goldgrade status
      goldgrade status --notify
    """
    from curation.operations.doctor import check_backups
    from curation.operations.notices import send_due
    from curation.operations.workflow.project_workflow import build_stages, read_figures, read_state
    from curation.operations.workflow.stage import STATE_LABELS, next_stage

    store = project_store()
    if notify:
        attempts = send_due(store)
        emit({"attempts": attempts}, f"{pluralize(attempts, 'attempt')} to send a notice.")
        return
    figures = read_figures(store)
    stages = build_stages(read_state(store), figures)
    following = next_stage(stages)
    backups = [finding.sentence for finding in check_backups(store)]
    rows = tuple((stage.name, STATE_LABELS.get(stage.state, stage.state), stage.line) for stage in stages)
    next_sentence = "Nothing waits."
    if following is not None:
        next_sentence = f"Next: {following.action.label} ({following.action.command})"
    table = Table("The path", ("stage", "state", "what"), rows)
    result: dict[str, Any] = {"next": following and following.name, "stages": stages, "backups": backups}
    result["left_out"] = figures.not_computed
    show(PlainResult((*backups, next_sentence), (table,)), *figures.not_computed, as_json=result)
