"""The map of coverage as one HTML file: drawings whose regions link to what is said of each, below."""

from __future__ import annotations

from curation.coverage.writing.state import CoverageState, read_state
from curation.evaluation.coverage_report.regions import region_graph_of
from curation.evaluation.coverage_report.sections import comparison_sections, map_sections, region_sections
from curation.evaluation.coverage_report.values import EvaluatedValues
from curation.reports.page import html_page
from curation.store import Store
from curation.store.documents import snapshot_titles
from curation.text import amount, percent


def coverage_page(store: Store, found: EvaluatedValues | None = None) -> str:
    """The page of the map in force, with the values of systems where a run was evaluated.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, or networkx is not installed.
    """
    with store.reading() as cursor:
        state = read_state(cursor)
        titles = snapshot_titles(cursor, state.map.snapshot_id, list(state.map.of_documents))
    graph = region_graph_of(state)
    anchors = {number: f"region-{number}" for number in graph.numbers}
    system = next(iter(found.systems)) if found else None
    sections = map_sections(state, graph, found, system, lambda number: f"#{anchors[number]}")
    if found:
        sections += comparison_sections(state, found)
    sections += region_sections(state, titles, found, anchors)
    return html_page("Coverage of the corpus", _findings(state, found), sections, _about(state))


def _findings(state: CoverageState, found: EvaluatedValues | None) -> list[str]:
    regions = state.regions
    share = "unknown" if regions.msc is None else percent(regions.msc)
    told = [
        f"{regions.zqc:,} of {amount(regions.clusters, 'region')} have no query; {share} have one.",
        f"{amount(regions.queries, 'query is', 'queries are')} about a region, {len(state.nowhere):,} "
        "about nothing that it has.",
    ]
    if state.unmatched:
        told.append(
            f"{amount(len(state.unmatched), 'query was', 'queries were')} added since coverage was measured, "
            "and counted nowhere yet."
        )
    told.append(
        f"Results: {found.measure} of {', '.join(found.systems)} on {found.name}. The first colours the map."
        if found
        else "No run is shown: regions with a query are drawn as empty circles."
    )
    return told


def _about(state: CoverageState) -> str:
    known = state.map.parameters
    return (
        f"Map {state.map.map_id[:12]}: resolution {known['resolution']:g}, {known['chosen']}; seed "
        f"{known['seed']}; a region has {known['least_documents']:,} documents or more."
    )
