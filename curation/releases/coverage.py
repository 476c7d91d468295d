"""How well a release's queries cover the corpus."""

from __future__ import annotations

from typing import NamedTuple

from curation.queries.coverage.query_shapes import Tertiles
from curation.releases.frozen_release import FrozenRelease


class ReleasedCoverage(NamedTuple):
    """How well a release's queries cover the corpus.

    Attributes
    ----------
    resolution, seed, least_documents: the parameters of the map's regions.
    regions: number of regions of the whole corpus.
    regions_asked: number of regions with a query of the release, of any part.
    relevant_grade: the lowest grade of relevant documents, from which dispersion and alignment are computed.
    dispersion, alignment: the boundaries that cut the figure in three; None where the figure is unknown or
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


def read_coverage(release: FrozenRelease) -> ReleasedCoverage | None:
    """Read the coverage of a release; None if the release has no coverage map."""
    rows = release.rows("coverage")
    if not rows:
        return None
    row = rows[0]
    regions = {cluster["number"] for cluster in row["clusters"] if cluster["region"]}
    query_clusters = {number for query in release.rows("query_coverage") for number in query["clusters"]}
    return ReleasedCoverage(
        map_id=row["map_id"],
        **{name: row["parameters"][name] for name in ("resolution", "seed", "least_documents")},
        regions=len(regions),
        regions_asked=len(regions & query_clusters),
        relevant_grade=row["relevant_grade"],
        dispersion=row["dispersion"] and Tertiles(**row["dispersion"]),
        alignment=row["alignment"] and Tertiles(**row["alignment"]),
    )


def describe_map(coverage: ReleasedCoverage) -> str:
    """Describe the coverage map, with the number of its regions that have a query."""
    return (
        f"Coverage map {coverage.map_id[:12]}…: {coverage.regions_asked:,} of {coverage.regions:,} regions "
        f"of the corpus have a query. A region has {coverage.least_documents:,} documents or more; "
        f"resolution {coverage.resolution:g}, seed {coverage.seed}."
    )


def describe_grid(coverage: ReleasedCoverage) -> str:
    """Describe the grid of dispersion and alignment; empty if no query falls in a cell."""
    figures = {"Δ": coverage.dispersion, "J": coverage.alignment}
    thirds = [f"{name} {cut.lower:.3f} and {cut.upper:.3f}" for name, cut in figures.items() if cut]
    if not thirds:
        return ""
    uncut = [name for name, cut in figures.items() if not cut]
    remarks = "".join(f" {name} has no thirds: too many queries have the same {name}." for name in uncut)
    return (
        "Dispersion Δ is high where relevant documents share few clusters. Alignment J is high where the "
        "query and its relevant documents are in the same clusters. Δ needs two relevant documents; with one "
        f"relevant document, J alone makes the cell. Thirds end at {', and at '.join(thirds)}. A document is "
        f"relevant from grade {coverage.relevant_grade}.{remarks}"
    )
