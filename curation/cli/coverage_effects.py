"""`goldset coverage effects`: how far the figures of coverage explain what systems reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, ReleaseName, Seed, project_store
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.text import amount, p_cell

if TYPE_CHECKING:
    from curation.evaluation.coverage_effects import CoverageEffects, SystemEffects


def coverage_effects_command(
    name: ReleaseName,
    run: Annotated[
        list[str] | None,
        typer.Option(help="A run file, or NAME=FILE. Repeatable.", show_default="none"),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="A part of the release that is not sealed.", show_default="all of them"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model of the map: a name or a folder.", show_default="all-MiniLM-L6-v2"),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show how far coverage explains what runs reach.

    It does so by dispersion, alignment, the 3 × 3 grid and the clusters.

    Δ may explain nDCG@10 and J recall@100: r² with a permutation test. σ within the cells of the grid and
    within clusters is shown next to σ overall and what chance gives. All of it is for regions and for
    all clusters, and over the resolutions of the map that `goldset coverage` made last.

    \b
    Examples:
      goldset coverage effects v1 --run bm25.trec --run dense.trec
      goldset coverage effects v1 --run new=new.trec --part dev --json
    """
    from curation.evaluation.coverage_effects import coverage_effects
    from curation.retrieval.embeddings import DEFAULT_MODEL
    from curation.scoring.inputs.system_runs import named_runs

    with progress_bar() as progress:
        found = coverage_effects(
            *(project_store(), name, named_runs(run or []), part),
            seed=seed,
            model=model or DEFAULT_MODEL,
            progress=progress,
        )
    emit(as_json, found, lambda: _show(found))


def _show(found: CoverageEffects) -> None:
    say(
        f"{amount(found.queries, 'query', 'queries')} of {found.release}. Resolution "
        f"{found.resolution:g}; seed {found.seed}."
    )
    for title, effects in (("regions", found.regions), ("all clusters", found.all_clusters)):
        _show_explained(title, effects)
        _show_within(title, effects)
    _show_cells(found)
    table(
        "Cells of the grid that the queries of a region fill",
        ["region", "name", "queries", "cells filled", "of"],
        found.strata,
    )
    table(
        "nDCG@10 by resolution, over regions: lowest and highest of the seeds",
        ["system", "γ", "r² of Δ", "r² of J", "σ", "σ in cells", "explained", "σ in clusters", "explained"],
        [(step.system, f"{step.resolution:g}", *(span.text() for span in step[2:])) for step in found.curve],
    )
    left_out(found.left_out)


def _show_explained(title: str, effects: Sequence[SystemEffects]) -> None:
    table(
        f"Explained by a straight line, over {title}",
        ["system", "measure", "by", "queries", "r", "r²", "p"],
        [
            (one.system, measure, figure, found.queries, found.correlation, found.share, p_cell(found.p))
            for one in effects
            for measure, figure, found in (
                ("nDCG@10", "dispersion Δ", one.dispersion),
                ("recall@100", "alignment J", one.alignment),
            )
        ],
    )


def _show_within(title: str, effects: Sequence[SystemEffects]) -> None:
    table(
        f"Spread within strata, over {title}",
        ["system", "measure", "strata", "queries", "σ", "σ within", "by chance", "explained", "p"],
        [
            (one.system, measure, name, found.queries, *found[2:-1], p_cell(found.p))
            for one in effects
            for name, strata in (("cells of the grid", one.grid), ("clusters", one.clusters))
            for measure, found in strata.items()
        ],
    )


def _show_cells(found: CoverageEffects) -> None:
    if not found.cells:
        return
    from curation.coverage.measures import third_name

    systems = list(found.cells[0].means)
    table(
        "Mean nDCG@10 in the 3 × 3 grid, over regions",
        ["dispersion", "alignment", "queries", *systems],
        [
            (third_name(cell.dispersion), third_name(cell.alignment), cell.queries, *cell.means.values())
            for cell in found.cells
        ],
    )
