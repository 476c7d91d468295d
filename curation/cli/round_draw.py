"""`goldgrade round draw`: a round over a random sample of the queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.output import emit, table
from curation.cli.program import (
    Annotators,
    BlindDuplicates,
    Json,
    RoundName,
    Seed,
    listed,
    project_store,
)
from curation.cli.round import Overlap, rounds, show_opened
from curation.core.text import amount


@rounds.command("draw")
def round_draw(
    name: RoundName,
    queries: Annotated[int, typer.Option(help="How many queries to draw.")],
    annotators: Annotators,
    overlap: Overlap = 2,
    duplicates: BlindDuplicates = 0.08,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Also write each query's probability of being drawn, as CSV.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Open a round over a random sample of the queries.

    People's grades of the sample correct a judge's.

    Each stratum gives queries in proportion to its size, at least one. The project keeps who was drawn from
    whom, and `goldgrade evaluate --judge` uses it.

    \b
    Examples:
      goldgrade round draw correction --queries 150 --annotators ada,grace --seed 7
      goldgrade round draw correction --queries 150 --annotators ada,grace --out probabilities.csv
    """
    from curation.labeling.rounds.query_draw import open_drawn_round, write_draw

    drawn_round = open_drawn_round(
        *(project_store(), name, listed(annotators), queries),
        overlap=overlap,
        duplicates=duplicates,
        seed=seed,
    )
    if out is not None:
        write_draw(drawn_round.draw, out)

    def show() -> None:
        rows = [(one.stratum, one.population, one.drawn, one.probability) for one in drawn_round.strata]
        table(
            f"Drew {drawn_round.drawn:,} of {amount(drawn_round.queries, 'query', 'queries')}",
            ["stratum", "queries", "drawn", "p"],
            rows,
        )
        show_opened(drawn_round.opened, False)

    result = {
        "strata": drawn_round.strata,
        "probabilities": drawn_round.draw.probabilities,
        "opened": drawn_round.opened,
    }
    emit(as_json, {"queries": drawn_round.queries, "drawn": sorted(drawn_round.draw.drawn), **result}, show)
