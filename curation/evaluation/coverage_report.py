"""The map of coverage with results: regions drawn and coloured by what systems reach in each.

The page is one HTML file whose drawings link to what is said of each region below; the app shows the same
sections. Two regions touch where documents are about both. The weight is the Jaccard similarity of their
documents, and each region keeps its strongest `NEAREST`. Places are of a spring layout (Fruchterman and
Reingold 1991). The map is coloured by one measure of evaluated systems. Sealed parts have no values of single
queries, so an evaluation of one colours nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from curation.coverage.writing.tasks import CoverageState, read_state
from curation.errors import RefusedError
from curation.evaluation.comparison.aggregations import AGGREGATIONS, StrataSummary, about, summarise
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.submitted import submitted_texts
from curation.reports.charts import Mark
from curation.reports.page import QueryName, Section, Table, html_page
from curation.reports.plots import DotRow, PlotPoint, dot_plot, scatter
from curation.reports.regions import RegionBox, RegionMark, region_boxes, region_graph, region_map
from curation.scoring.inputs.facets import CLUSTER, Facet
from curation.store import Annotator, Cursor, Store
from curation.store.documents import snapshot_titles
from curation.text import amount, isolated, percent

BOX_LEAST = 5
"""Values that a box needs."""
BOXES = 30
"""Boxes that are drawn, those with the lowest medians."""
NOT_EVALUATED = "no run"


def map_sections(
    state: CoverageState, graph: RegionGraph, found: EvaluatedValues | None, system: str | None, link: Link
) -> list[Section]:
    """The drawings.

    Parameters
    ----------
    found: None: no run was evaluated.
    system: whose values colour the regions.
    link: where more is said of a region, by its number.
    """
    values: QueryValues = found.systems[system] if found and system else {}
    measure = f"{found.measure} of {system}" if found and system else NOT_EVALUATED
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
    if found and system:
        sections.append(_boxes(state, values, f"{found.measure} of {system}", link))
    return sections


def comparison_sections(state: CoverageState, found: EvaluatedValues, seed: int = 0) -> list[Section]:
    """Each pair of systems cluster by cluster, and who wins under which aggregation."""
    systems = list(found.systems)
    if len(systems) < 2:
        return []
    first, second = systems[:2]
    summary = _summary(state, found, seed)
    return [_against(state, found, first, second), _win_rates(summary)]


def region_sections(
    state: CoverageState,
    titles: Mapping[str, str],
    found: EvaluatedValues | None,
    anchors: Mapping[int, str],
) -> list[Section]:
    """Every region: its entities, documents, queries with results, and how to have one written."""
    return [_region(state, number, titles, found, anchors[number]) for number in state.map.regions]


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


def _against(state: CoverageState, found: EvaluatedValues, first: str, second: str) -> Section:
    ones, others = (region_means(state, found.systems[name]) for name in (first, second))
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
        f"Mean {found.measure} in {amount(len(points), 'region')} with a value for both: {first} is higher "
        f"in {above:,}, {second} in {below:,}, and {len(points) - above - below:,} are level."
    )
    drawing = scatter(f"{first} and {second}, region by region", f"{first}", f"{second}", points)
    return Section("Two systems, region by region", sentence, (drawing,) if points else ())


def _summary(state: CoverageState, found: EvaluatedValues, seed: int) -> StrataSummary:
    query_ids = sorted({query_id for values in found.systems.values() for query_id in values})
    table = [
        [np.nan if (value := values.get(one)) is None else value for one in query_ids]
        for values in found.systems.values()
    ]
    facet = region_facet(state, query_ids)
    return summarise(list(found.systems), found.measure, np.array(table, float), facet, seed=seed)


def _win_rates(summary: StrataSummary) -> Section:
    rows = []
    for name in AGGREGATIONS:
        figures = {system: of[name] for system, of in summary.figures.items()}
        marks = [
            Mark(system, one.value, one.low, one.high, "" if one.value is not None else "unknown")
            for system, one in figures.items()
        ][:6]
        strata = next((one.strata for one in figures.values()), None)
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
    state: CoverageState, number: int, titles: Mapping[str, str], found: EvaluatedValues | None, anchor: str
) -> Section:
    cluster = state.map.clusters[number]
    systems = found.systems if found else {}
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
        f"To write a query: goldset coverage open-tasks --region {number} --queries 1 --annotators NAME",
        anchor,
    )


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
    sections.append(state.reach)
    sections += region_sections(state, titles, found, anchors)
    return html_page("Coverage of the corpus", _findings(state, found), sections, _about(state))


def _findings(state: CoverageState, found: EvaluatedValues | None) -> list[str]:
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
        f"Results: {found.measure} of {', '.join(found.systems)} on {found.name}. The first colours the map."
        if found
        else "No run is shown: regions with a query are drawn as empty circles."
    )
    return sentences


def _about(state: CoverageState) -> str:
    known = state.map.parameters
    return (
        f"Map {state.map.map_id[:12]}: resolution {known['resolution']:g}, {known['chosen']}; seed "
        f"{known['seed']}; a region has {known['least_documents']:,} documents or more."
    )


NEAREST = 3
"""Edges that each region keeps."""
ITERATIONS = 80
Link = Callable[[int], str]


class RegionGraph(NamedTuple):
    """The regions of a map, by number, and how they touch.

    Attributes
    ----------
    edges: two regions by their place in `numbers`, and a weight from 0 to 1.
    places: x and y from 0 to 1 of each region.
    """

    numbers: list[int]
    edges: list[tuple[int, int, float]]
    places: list[tuple[float, float]]


def region_values(state: CoverageState, values: QueryValues) -> dict[int, list[float]]:
    """Number of a region → the values of its queries that have one, by query id."""
    found = {}
    for number in state.map.regions:
        known = [values.get(query.query_id) for query in state.queries.get(number, [])]
        found[number] = [value for value in known if value is not None]
    return found


def region_means(state: CoverageState, values: QueryValues) -> dict[int, float | None]:
    """Number of a region → the mean of its queries' values; None where none has one."""
    return {
        number: fsum(held) / len(held) if held else None
        for number, held in region_values(state, values).items()
    }


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


def region_facet(state: CoverageState, query_ids: list[str]) -> Facet:
    """The regions as strata of queries; those without a query are values too."""
    held = {
        number: {query.query_id for query in state.queries.get(number, [])} for number in state.map.regions
    }
    values = {
        f"{number} {state.map.clusters[number].name}": np.array([one in own for one in query_ids], bool)
        for number, own in held.items()
    }
    return Facet(CLUSTER, values)


def region_graph_of(state: CoverageState) -> RegionGraph:
    """How the regions touch, and a layout that depends on the map alone.

    Raises
    ------
    RefusedError: networkx is not installed.
    """
    numbers = state.map.regions
    edges = _edges(state, numbers)
    return RegionGraph(numbers, edges, _layout(len(numbers), edges))


def _edges(state: CoverageState, numbers: list[int]) -> list[tuple[int, int, float]]:
    place_of = {number: place for place, number in enumerate(numbers)}
    shared: Counter[tuple[int, int]] = Counter()
    for places in state.map.of_documents.values():
        held = sorted(place_of[at] for at in state.map.clusters_of(places) if at in place_of)
        shared.update(combinations(held, 2))
    sizes = [len(state.map.clusters[number].documents) for number in numbers]
    weights = {
        (one, other): count / (sizes[one] + sizes[other] - count) for (one, other), count in shared.items()
    }
    near: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for edge, weight in weights.items():
        for end in edge:
            near.setdefault(end, []).append((-weight, edge))
    kept = {edge for held in near.values() for _, edge in sorted(held)[:NEAREST]}
    return [(*edge, weights[edge]) for edge in sorted(kept)]


def _layout(count: int, edges: list[tuple[int, int, float]]) -> list[tuple[float, float]]:
    try:
        import networkx
    except ImportError as error:
        raise RefusedError("The map needs networkx: pip install networkx.") from error
    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(edges)
    found = networkx.spring_layout(graph, seed=0, iterations=ITERATIONS)
    places = np.array([found[node] for node in range(count)]).reshape(count, 2)
    low, high = places.min(axis=0, initial=0), places.max(axis=0, initial=0)
    scaled = (places - low) / np.maximum(high - low, 1e-9)
    return [(round(x, 4), round(y, 4)) for x, y in scaled.tolist()]


HEADLINE = "ndcg@10"
SEALED = "There are no figures of single queries of a sealed part, so a map cannot be coloured by them."

QueryValues = Mapping[str, float | None]


class EvaluatedValues(NamedTuple):
    """One measure of systems, query by query.

    Attributes
    ----------
    name: the release and its parts, as people read them.
    systems: system → query id → value, None where the measure has none.
    """

    name: str
    measure: str
    systems: Mapping[str, QueryValues]


def values_of(found: Evaluation) -> EvaluatedValues:
    """The values of an evaluation by nDCG@10, or by its first measure.

    Raises
    ------
    RefusedError: a sealed part was evaluated.
    """
    per_query = {system.name: system.per_query for system in found.runs}
    return _values(found.release, found.parts, found.measures, found.query_ids, per_query)


def stored_values(cursor: Cursor, evaluation_id: str, annotator: Annotator) -> EvaluatedValues:
    """The values of an evaluation that was made on the page Evaluate.

    Raises
    ------
    NotFoundError: there is none of that id, or it is somebody else's.
    RefusedError: a sealed part was evaluated.
    """
    _, text = submitted_texts(cursor, evaluation_id, annotator)
    result: dict[str, Any] = json.loads(text)
    per_query = {system["name"]: system["per_query"] for system in result["runs"]}
    return _values(result["release"], result["parts"], result["measures"], result["query_ids"], per_query)


def _values(
    release: str,
    parts: Sequence[str],
    measures: Sequence[str],
    query_ids: Sequence[str] | None,
    per_query: Mapping[str, Mapping[str, Sequence[float | None]] | None],
) -> EvaluatedValues:
    if query_ids is None or any(values is None for values in per_query.values()):
        raise RefusedError(SEALED)
    measure = next((name for name in measures if _is_headline(name)), measures[0])
    systems = {
        name: dict(zip(query_ids, values[measure], strict=True))
        for name, values in per_query.items()
        if values is not None
    }
    return EvaluatedValues(f"{release}, {', '.join(parts)}", measure, systems)


def _is_headline(measure: str) -> bool:
    return measure.replace("_exp", "") == HEADLINE
