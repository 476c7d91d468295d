"""`goldgrade verify`: check a release, or an exported folder, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, progress_bar, say
from curation.cli.program import Json, app, release_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.releases.verify import Verified


@app.command()
def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="RELEASE", help="The release's name, such as v1.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="An exported folder to check instead.", show_default="the release"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every byte of a release or an exported folder. Exit 1 if something was altered.

    A release is compared with its checksums, and each of its documents with its hash. A folder is compared
    with the sums of its manifest. No grade is shown.

    \b
    Examples:
      goldgrade verify v1
      goldgrade verify --folder exports/v1
      goldgrade verify v1 --json
    """
    if (name is None) == (folder is None):
        raise typer.BadParameter("give either the name of a RELEASE or --folder DIR")
    if folder is not None:
        _verify_folder(folder, as_json)
        return
    from curation.releases.verify import verify as verify_release

    with progress_bar() as progress:
        verified = verify_release(release_store(), str(name), progress)
    emit(as_json, verified, lambda: _show_verified(str(name), verified))
    if not verified.intact:
        raise typer.Exit(1)


def _verify_folder(folder: Path, as_json: bool) -> None:
    from curation.releases.export.verify_export import verify_export

    verified = verify_export(folder)

    def show() -> None:
        if verified.intact:
            say(
                f"{folder} is intact: {amount(verified.files, 'file')} of the release {verified.name}.",
                f"release id: {verified.release_id}",
            )
        else:
            _say_altered(str(folder), verified.problems, verified.altered)

    emit(as_json, verified, show)
    if not verified.intact:
        raise typer.Exit(1)


def _show_verified(name: str, verified: Verified) -> None:
    if verified.intact:
        say(
            f"{name} is intact: {amount(verified.parts, 'part')} and "
            f"{amount(verified.documents, 'document')} are as frozen.",
            f"release id: {verified.release_id}",
        )
        if verified.lacking:
            say(
                f"Without the rows of sealed queries in {', '.join(verified.lacking)}: of these parts the id "
                "cannot be computed again, and their other rows have the sums of who packed them. All else "
                "makes the id."
            )
    else:
        _say_altered(name, verified.problems, verified.altered)


def _say_altered(what: str, problems: Sequence[str], altered: int) -> None:
    say(f"{what} was ALTERED:", *(f"  {problem}" for problem in problems))
    if altered > len(problems):
        say(f"  … and {altered - len(problems):,} more")
