"""`goldgrade card`: a release's data-set card."""

from __future__ import annotations

from curation.cli.output import emit
from curation.cli.program import AnyRelease, Json, Licence, app, release_store


@app.command()
def card(name: AnyRelease, licence: Licence = "unknown", as_json: Json = False) -> None:
    """Print a release's data-set card (Markdown).

    \b
    Examples:
      goldgrade card v1
      goldgrade card v1 --license cc-by-4.0
    """
    from curation.releases.card.card import Card
    from curation.releases.verify import load_release

    written = Card(load_release(release_store(), name), licence)
    emit(
        as_json,
        {"name": name, "licence": licence, "limits": written.limits, "card": written.text},
        lambda: print(written.text, end=""),
    )
