"""The map of coverage with results: regions drawn and coloured by what systems reach in each.

The page is one HTML file whose drawings link to what is said of each region below; the app shows the same
sections. The map is coloured by one measure of evaluated systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from curation.core.reports.charts import Mark
from curation.core.reports.page import QueryName, Section, Table, html_page
from curation.core.reports.plots import DotRow, PlotPoint, dot_plot, scatter
from curation.core.reports.regions import RegionBox, RegionMark, region_boxes, region_graph, region_map
from curation.core.text import amount, isolated, percent
from curation.evaluation.comparison.aggregations import AGGREGATIONS, StrataSummary, about, summarise
from curation.evaluation.region_graph import RegionGraph, region_graph_of
from curation.evaluation.region_values import (
    EvaluatedValues,
    QueryValues,
    region_facet,
    region_means,
    region_values,
)
from curation.queries.coverage.state import CoverageState, read_state
from curation.store import Store
from curation.store.documents import snapshot_titles

BOX_LEAST = 5
"""Values that a box needs."""
BOXES = 30
"""Boxes that are drawn, those with the lowest medians."""
NOT_EVALUATED = "no run"
Link = Callable[[int], str]


def map_sections(
    state: CoverageState,
    graph: RegionGraph,
    evaluated_values: EvaluatedValues | None,
    system: str | None,
    link: Link,
) -> list[Section]:
    """The drawings.

    Parameters
    ----------
    found: None: no run was evaluated.
    system: whose values colour the regions.
    link: where more is said of a region, by its number.
    """
    values: QueryValues = evaluated_values.systems[system] if evaluated_values and system else {}
    measure = f"{evaluated_values.measure} of {system}" if evaluated_values and system else NOT_EVALUATED
    marks = region_marks(state, region_means(state, values), link)
    asked = sum(mark.queries > 0 for mark in marks)
    proportion = sum(mark.queries for mark in marks) / max(1, sum(mark.documents for mark in marks))
    sentence = f"{asked:,} of {amount(len(marks), 'region')} have a query."
    sections = [
        Section(
            "Documents and queries by region",
            f"{sentence} On the diagonal a region has as many queries for its documents as all regions "
            "together; below it, fewer. Grey: nothing was asked.",
            (region_map("Documents of each region against its queries", measure, marks, proportion),),
        ),
        Section(
            "The regions and how they touch",
            "Two regions are joined where documents are about both. Larger: more documents.",
            (region_graph("Regions joined by their documents", measure, marks, graph.places, graph.edges),),
        ),
    ]
    if evaluated_values and system:
        sections.append(_boxes(state, values, f"{evaluated_values.measure} of {system}", link))
    return sections


def comparison_sections(
    state: CoverageState, evaluated_values: EvaluatedValues, seed: int = 0
) -> list[Section]:
    """Each pair of systems cluster by cluster, and who wins under which aggregation."""
    systems = list(evaluated_values.systems)
    if len(systems) < 2:
        return []
    first, second = systems[:2]
    summary = _summary(state, evaluated_values, seed)
    return [_against(state, evaluated_values, first, second), _win_rates(summary)]


def region_sections(
    state: CoverageState,
    titles: Mapping[str, str],
    evaluated_values: EvaluatedValues | None,
    anchors: Mapping[int, str],
) -> list[Section]:
    """Every region: its entities, documents, queries with results, and how to have one written."""
    return [_region(state, number, titles, evaluated_values, anchors[number]) for number in state.map.regions]


def _boxes(state: CoverageState, values: QueryValues, measure: str, link: Link) -> Section:
    held = {number: own for number, own in region_values(state, values).items() if len(own) >= BOX_LEAST}
    ordered = sorted(held, key=lambda number: (float(np.median(held[number])), number))[:BOXES]
    boxes = [RegionBox(state.map.clusters[number].name, held[number], link(number)) for number in ordered]
    sentence = (
        f"{measure} of single queries, in {amount(len(held), 'region')} with {BOX_LEAST} values or more. "
        f"{amount(len(state.map.regions) - len(held), 'region has', 'regions have')} fewer."
    )
    if len(held) > BOXES:
        sentence += f" Drawn are the {BOXES} with the lowest medians."
    drawings = (region_boxes(f"{measure} within regions", boxes),) if boxes else ()
    return Section("Within regions", sentence, drawings)


def _against(state: CoverageState, evaluated_values: EvaluatedValues, first: str, second: str) -> Section:
    ones, others = (region_means(state, evaluated_values.systems[name]) for name in (first, second))
    points = []
    for number in state.map.regions:
        one, other = ones[number], others[number]
        if one is None or other is None:
            continue
        name = state.map.clusters[number].name
        points.append(PlotPoint(one, other, f"{isolated(name)}: {first} {one:.3f}, {second} {other:.3f}"))
    above = sum(point.x > point.y for point in points)
    below = sum(point.x < point.y for point in points)
    sentence = (
        f"Mean {evaluated_values.measure} in {amount(len(points), 'region')} with a value for both: {first} "
        "is higher "
        f"in {above:,}, {second} in {below:,}, and {len(points) - above - below:,} are level."
    )
    drawing = scatter(f"{first} and {second}, region by region", f"{first}", f"{second}", points)
    return Section("Two systems, region by region", sentence, (drawing,) if points else ())


def _summary(state: CoverageState, evaluated_values: EvaluatedValues, seed: int) -> StrataSummary:
    query_ids = sorted({query_id for values in evaluated_values.systems.values() for query_id in values})
    table = [
        [np.nan if (value := values.get(one)) is None else value for one in query_ids]
        for values in evaluated_values.systems.values()
    ]
    facet = region_facet(state, query_ids)
    return summarise(
        list(evaluated_values.systems), evaluated_values.measure, np.array(table, float), facet, seed=seed
    )


def _win_rates(summary: StrataSummary) -> Section:
    rows = []
    for name in AGGREGATIONS:
        figures = {system: of[name] for system, of in summary.figures.items()}
        marks = [
            Mark(system, figure.value, figure.low, figure.high, "" if figure.value is not None else "unknown")
            for system, figure in figures.items()
        ][:6]
        strata = next((figure.strata for figure in figures.values()), None)
        rows.append(DotRow(name if strata is None else f"{name}, {amount(strata, 'region')}", "", marks))
    cells: dict[tuple[str, str], list[object]] = {}
    for rate in summary.win_rates:
        cells.setdefault((rate.system, rate.other), []).append(rate.wins)
    table = Table(
        f"Share of {summary.resamples:,} resamples in which the first system is above the second",
        ("systems", *AGGREGATIONS),
        tuple((f"{one} above {other}", *rates) for (one, other), rates in cells.items()),
    )
    names = list(summary.figures)[:6]
    title = f"{summary.measure} under each aggregation"
    return Section(
        "Win rates by aggregation",
        about(summary),
        (dot_plot(title, names, rows),) if names else (),
        (table,) if cells else (),
        "Overall is the mean over queries. Macro, median and worst are over the means of regions."
        if names
        else "",
    )


def _region(
    state: CoverageState,
    number: int,
    titles: Mapping[str, str],
    evaluated_values: EvaluatedValues | None,
    anchor: str,
) -> Section:
    cluster = state.map.clusters[number]
    systems = evaluated_values.systems if evaluated_values else {}
    names = [state.map.entities[place].name for place in cluster.entities]
    documents = tuple((name, titles.get(name) or "–") for name in cluster.documents)
    queries: Sequence[tuple[object, ...]] = [
        (
            QueryName(query.text, query.query_id),
            query.source,
            *(values.get(query.query_id) for values in systems.values()),
        )
        for query in state.queries.get(number, [])
    ]
    tables = [Table(amount(len(documents), "document"), ("document", "title"), documents)]
    if queries:
        tables.append(
            Table(
                amount(len(queries), "query", "queries"),
                ("query", "source", *systems),
                tuple(queries),
                words=True,
            )
        )
    none = "" if queries else "\nNo query is about it."
    return Section(
        f"Region {number}: {isolated(cluster.name)}",
        f"Entities, the most central first: {', '.join(map(isolated, names))}.{none}",
        (),
        tuple(tables),
        f"To write a query: goldgrade coverage open-tasks --region {number} --queries 1 --annotators NAME",
        anchor,
    )


def coverage_page(store: Store, evaluated_values: EvaluatedValues | None = None) -> str:
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
    system = next(iter(evaluated_values.systems)) if evaluated_values else None
    sections = map_sections(state, graph, evaluated_values, system, lambda number: f"#{anchors[number]}")
    if evaluated_values:
        sections += comparison_sections(state, evaluated_values)
    sections.append(state.reach)
    sections += region_sections(state, titles, evaluated_values, anchors)
    return html_page("Coverage of the corpus", _findings(state, evaluated_values), sections, _about(state))


def _findings(state: CoverageState, evaluated_values: EvaluatedValues | None) -> list[str]:
    regions = state.regions
    share = "unknown" if regions.msc is None else percent(regions.msc)
    sentences = [
        f"{regions.zqc:,} of {amount(regions.clusters, 'region')} have no query; {share} have one.",
        f"{amount(regions.queries, 'query is', 'queries are')} about a region, {len(state.nowhere):,} "
        "about nothing that it has.",
    ]
    if state.unmatched:
        sentences.append(
            f"{amount(len(state.unmatched), 'query was', 'queries were')} added since coverage was measured, "
            "and counted nowhere yet."
        )
    sentences.append(
        (
            f"Results: {evaluated_values.measure} of {', '.join(evaluated_values.systems)} on "
            f"{evaluated_values.name}. The first colours the map."
        )
        if evaluated_values
        else "No run is shown: regions with a query are drawn as empty circles."
    )
    return sentences


def _about(state: CoverageState) -> str:
    known = state.map.parameters
    return (
        f"Map {state.map.map_id[:12]}: resolution {known['resolution']:g}, {known['chosen']}; seed "
        f"{known['seed']}; a region has {known['least_documents']:,} documents or more."
    )


def region_marks(state: CoverageState, means: Mapping[int, float | None], link: Link) -> list[RegionMark]:
    """The regions to draw, by number."""
    return [
        RegionMark(
            state.map.clusters[number].name,
            state.clusters[number].documents,
            state.clusters[number].queries,
            means.get(number),
            link(number),
        )
        for number in state.map.regions
    ]
