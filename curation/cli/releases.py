"""`goldset release list`, `release show` and `card`: what is frozen, and who had sealed grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, left_out, print_json, say, table

if TYPE_CHECKING:
    from curation.releases.overview import ShownRelease

release = typer.Typer(
    help="List the releases, and show one with the log of its seal.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(release, name="release")

Name = Annotated[str, typer.Argument(help="The release's name, such as v1.")]


@release.command("list")
def release_list(context: typer.Context, as_json: Json = False) -> None:
    """List the releases, oldest first, with how often their sealed grades were taken.

    \b
    Examples:
      goldset release list
      goldset release list --json
    """
    from curation.releases.overview import releases

    found = releases(project_store(context))
    if as_json:
        print_json({"releases": found})
        return
    if not found:
        say("Nothing is frozen yet. Next: goldset freeze NAME")
        return
    rows = [
        (row.name, f"{row.frozen_at:%Y-%m-%d %H:%M}", row.frozen_by, row.grades, row.openings, row.release_id)
        for row in found
    ]
    table("Releases", ["name", "frozen (UTC)", "by", "grades", "seal opened", "release id"], rows)


@release.command("show")
def release_show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a release: its parts, what is sealed, and who had sealed grades, when, for what and why.

    \b
    Examples:
      goldset release show v1
      goldset release show v1 --json
    """
    from curation.releases.overview import show

    found = show(project_store(context), name)
    if as_json:
        print_json(found)
    else:
        _tell(found)


@app.command()
def card(
    context: typer.Context,
    name: Name,
    licence: Annotated[
        str, typer.Option("--license", help="Licence of the data set, as its owner names it.")
    ] = "unknown",
    as_json: Json = False,
) -> None:
    """Print a release's data-set card (Markdown), written from the release alone.

    \b
    Examples:
      goldset card v1
      goldset card v1 --license cc-by-4.0
    """
    from curation.releases.card import Card
    from curation.releases.verify import opened

    written = Card(opened(project_store(context), name), licence)
    if as_json:
        print_json({"name": name, "licence": licence, "limits": written.limits, "card": written.text})
    else:
        print(written.text, end="")


def _tell(found: ShownRelease) -> None:
    rows = [
        (part, queries, found.grades[part], "sealed" if part in found.sealed else "")
        for part, queries in sorted(found.queries.items())
    ]
    title = f"Release {found.name}, frozen {found.frozen_at:%Y-%m-%d %H:%M} UTC by {found.frozen_by}"
    table(f"{title}: {found.documents:,} documents", ["part", "queries", "grades", "seal"], rows)
    left_out(found.left_out, "×")
    if found.changed:
        say(f"{found.changed:,} grades were given on another version of their document; they are marked.")
    if found.override is not None:
        say(f"Frozen against the gate, which the release tells: “{found.override['reason']}”.")
    if found.also_named:
        say(f"The same content is also named {', '.join(found.also_named)}.")
    if not found.sealed:
        say("No part is sealed.")
    elif not found.openings:
        say(f"Nobody has taken sealed grades ({', '.join(found.sealed)}) yet.")
    else:
        log = [
            (f"{one.opened_at:%Y-%m-%d %H:%M}", one.opened_by, one.purpose, ", ".join(one.parts), one.reason)
            for one in found.log
        ]
        times = "once" if found.openings == 1 else f"{found.openings:,} times"
        title = f"Sealed grades were taken {times}"
        table(title, ["when (UTC)", "who", "for", "parts", "reason"], log)
    say(f"release id: {found.release_id}")
