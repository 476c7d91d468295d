"""`goldgrade release`: list releases, show one with the logs of its seal, and pack one in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_unused
from curation.cli.output import emit, left_out, progress_bar, say, show_tables
from curation.cli.program import By, Json, ReleaseName, command_group, project_store
from curation.core.text import amount
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.releases.export.zipped import PackedFile
    from curation.releases.overview import ShownRelease

release = command_group("release", "List, show and pack releases.")


@release.command("list")
def release_list(as_json: Json = False) -> None:
    """List the releases, oldest first.

    Each with how often its seal was opened and runs were scored on sealed parts.

    \b
    Examples:
      goldgrade release list
      goldgrade release list --json
    """
    from curation.releases.overview import releases

    found = releases(project_store(with_arrow=False))

    def show() -> None:
        from curation.releases.overview import release_table

        if not found:
            say("Nothing is frozen yet. Next: goldgrade freeze NAME")
        show_tables(release_table(found))

    emit(as_json, {"releases": found}, show)


@release.command("show")
def release_show(name: ReleaseName, as_json: Json = False) -> None:
    """Show a release and who had its sealed grades.

    It has the parts, what is sealed, and who scored runs on it.

    \b
    Examples:
      goldgrade release show v1
      goldgrade release show v1 --json
    """
    from curation.releases.overview import show

    found = show(project_store(), name)
    emit(as_json, found, lambda: _show_release(found))


@release.command("sealed-limit")
def release_sealed_limit(
    number: Annotated[
        int | None, typer.Argument(help="The new number.", show_default="show the present one")
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show or set how many sealed evaluations an evaluator has.

    The number is for each evaluator and each sealed part, a month (UTC). Refused requests count, too. Leads
    have no limit.

    \b
    Examples:
      goldgrade release sealed-limit
      goldgrade release sealed-limit 20
    """
    from curation.releases.sealed_evaluations import monthly_limit, set_monthly_limit

    store = project_store()
    if number is not None:
        set_monthly_limit(store, number, by)
    with store.reading() as cursor:
        limit = monthly_limit(cursor)
    said = amount(limit, "sealed evaluation")
    emit(as_json, {"limit": limit}, f"Each evaluator has {said} a month for each sealed part.")


@release.command("pack")
def release_pack(
    context: typer.Context,
    name: ReleaseName,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The file to write.", show_default="NAME-ID.goldgrade, with the id's first digits"
        ),
    ] = None,
    with_sealed: Annotated[
        bool, typer.Option("--with-sealed", help="Also pack sealed grades, for a reason.")
    ] = False,
    reason: Annotated[
        str | None,
        typer.Option(help="Why sealed grades are packed; logged with name and time.", show_default="refuse"),
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Pack a release into one file that needs no project.

    evaluate, verify, diff, export, run and card take the file instead of a name. It
    has all that was frozen, as Parquet, with the documents' texts. Annotators are numbers in it, as in every
    release. What people said of sealed pairs is not in it.

    \b
    Examples:
      goldgrade release pack v1 v1.goldgrade
      goldgrade release pack v1 v1-whole.goldgrade --with-sealed --reason "For the archive"
    """
    from curation.releases.export.zipped import pack_release

    if not with_sealed:
        refuse_unused(context, "no sealed grade is packed without --with-sealed", "reason")
    with progress_bar() as progress:
        packed = pack_release(
            *(project_store(), name, file, by, progress), with_sealed=with_sealed, reason=reason
        )
    emit(as_json, packed, lambda: _show_packed(packed))


def _show_packed(packed: PackedFile) -> None:
    from curation.releases.release_rows import mark_sentence

    exported = packed.exported
    say(f"Packed {exported.name}: {packed.file}, {packed.bytes:,} bytes.")
    say(*mark_sentence(exported.name, exported.mark))
    if exported.without_grades:
        say(f"Without what people said of sealed pairs: {', '.join(exported.without_grades)}.")
    if exported.opening is not None:
        say(f"With the sealed grades of {', '.join(exported.opening.parts)}, which is logged.")
    say(f"sha256: {packed.sha256}", f"release id: {exported.release_id}")


def _show_release(shown_release: ShownRelease) -> None:
    from curation.releases.overview import opening_table, override_sentence, part_table, sealed_table
    from curation.releases.release_rows import half_judged_sentence

    title = (
        f"Release {shown_release.name}, frozen {shown_release.frozen_at:%Y-%m-%d %H:%M} UTC by "
        f"{shown_release.frozen_by}"
    )
    show_tables(part_table(title, shown_release))
    say(*half_judged_sentence(shown_release.half_judged))
    left_out(shown_release.left_out, "×")
    if shown_release.changed:
        one = "grade was given on another version of its document; it is"
        many = "grades were given on another version of their document; they are"
        say(f"{amount(shown_release.changed, one, many)} marked.")
    say(*override_sentence(shown_release))
    if shown_release.also_named:
        say(f"The same content is also named {', '.join(shown_release.also_named)}.")
    if not shown_release.sealed:
        say("No part is sealed.")
    elif not shown_release.openings:
        say(f"Nobody has opened the seal ({', '.join(shown_release.sealed)}) yet.")
    else:
        show_tables(opening_table(shown_release.log))
    if shown_release.sealed_evaluations:
        show_tables(sealed_table(shown_release.sealed_evaluations))
    say(f"release id: {shown_release.release_id}")
