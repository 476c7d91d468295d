"""What a release says about its coverage: the map, its regions, and the boundaries of the grid."""

from __future__ import annotations

from typing import NamedTuple

from curation.queries.coverage.measures import Tertiles
from curation.releases.verify import FrozenRelease


class ReleasedCoverage(NamedTuple):
    """The coverage of a release.

    Attributes
    ----------
    resolution, seed, least_documents: that made the map's regions.
    regions: of the whole corpus. regions_asked: those with a query of the release, of any part.
    relevant_grade: least grade of the relevant documents that dispersion and alignment are of.
    dispersion, alignment: where the figure is cut in three. None where it is not: it is unknown, or
        mostly one value.
    """

    map_id: str
    resolution: float
    seed: int
    least_documents: int
    regions: int
    regions_asked: int
    relevant_grade: int
    dispersion: Tertiles | None
    alignment: Tertiles | None


def released_coverage(release: FrozenRelease) -> ReleasedCoverage | None:
    """The coverage of a release; None where it has none."""
    rows = release.rows("coverage")
    if not rows:
        return None
    row, parameters = rows[0], rows[0]["parameters"]
    regions = {cluster["number"] for cluster in row["clusters"] if cluster["region"]}
    asked = {number for query in release.rows("query_coverage") for number in query["clusters"]}
    return ReleasedCoverage(
        map_id=row["map_id"],
        resolution=parameters["resolution"],
        seed=parameters["seed"],
        least_documents=parameters["least_documents"],
        regions=len(regions),
        regions_asked=len(regions & asked),
        relevant_grade=row["relevant_grade"],
        dispersion=row["dispersion"] and Tertiles(**row["dispersion"]),
        alignment=row["alignment"] and Tertiles(**row["alignment"]),
    )


def about_map(coverage: ReleasedCoverage) -> str:
    """Which map it is, and what of it has a query, in sentences."""
    return (
        f"Coverage map {coverage.map_id[:12]}…: {coverage.regions_asked:,} of {coverage.regions:,} regions "
        "of the "
        f"corpus have a query. A region has {coverage.least_documents:,} documents or more; resolution "
        f"{coverage.resolution:g}, seed {coverage.seed}."
    )


def about_grid(coverage: ReleasedCoverage) -> str:
    """What the grid is and where it is cut, in sentences; empty where no query has a cell."""
    figures = {"Δ": coverage.dispersion, "J": coverage.alignment}
    cut = [f"{name} {at.lower:.3f} and {at.upper:.3f}" for name, at in figures.items() if at]
    if not cut:
        return ""
    whole = "".join(
        f" {name} is not cut: too many queries have the same." for name in figures if not figures[name]
    )
    return (
        "Dispersion Δ is high where relevant documents share few clusters, alignment J where the query's are "
        "theirs. Δ needs two relevant documents; with one, J alone makes the cell. Thirds end at "
        f"{', and at '.join(cut)}; relevant is a grade of {coverage.relevant_grade} or more.{whole}"
    )
