"""The coverage map of the corpus as one HTML file, coloured by a measure of the evaluated systems.

The drawings link to a section on each region; the app shows the same sections.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum

from curation.core.characters import isolate
from curation.core.reports.page import Section, html_page
from curation.core.reports.regions import RegionMark, region_map
from curation.core.reports.tables import QueryName, Table
from curation.core.text import percent, pluralize
from curation.evaluation.by_query import EvaluatedValues, ValuesByQuery
from curation.queries.coverage.state import CoverageState, read_state
from curation.store import Store
from curation.store.documents import snapshot_titles

Link = Callable[[int], str]


def average_by_region(state: CoverageState, values: ValuesByQuery) -> dict[int, float | None]:
    """Average the measure over each region's queries, by region number; None for a region whose queries have
    no value."""
    means = {}
    for region in state.map.regions:
        region_values = [values.get(query.query_id) for query in state.queries.get(region, [])]
        query_values = [value for value in region_values if value is not None]
        means[region] = fsum(query_values) / len(query_values) if query_values else None
    return means


def build_map_section(
    state: CoverageState, results: EvaluatedValues | None, system: str | None, link: Link
) -> Section:
    """Draw the regions of the coverage map.

    Parameters
    ----------
    results: the values of systems; None if no run was evaluated.
    system: the system whose values colour the regions.
    link: a function from the number of a region to the address of its section.
    """
    values: ValuesByQuery = results.systems[system] if results and system else {}
    measure = f"{results.measure} of {system}" if results and system else "no run"
    marks = make_region_marks(state, average_by_region(state, values), link)
    with_query = sum(mark.queries > 0 for mark in marks)
    queries_per_document = sum(mark.queries for mark in marks) / max(1, sum(mark.documents for mark in marks))
    drawing = region_map("Documents and queries of each region", measure, marks, queries_per_document)
    sentence = f"{with_query:,} of {pluralize(len(marks), 'region')} have a query."
    return Section(
        "Documents and queries by region",
        f"{sentence} Regions on the diagonal have the average number of queries per document; regions below "
        "it have fewer. Gray regions have no query.",
        (drawing,),
    )


def build_region_sections(
    state: CoverageState, titles: dict[str, str], results: EvaluatedValues | None, anchors: dict[int, str]
) -> list[Section]:
    """Show each region's entities, documents, queries with their results, and the command with which a
    language model writes a query for the region."""
    return [_show_region(state, region, titles, results, anchors[region]) for region in state.map.regions]


def _show_region(
    state: CoverageState, region: int, titles: dict[str, str], results: EvaluatedValues | None, anchor: str
) -> Section:
    cluster = state.map.clusters[region]
    systems = results.systems if results else {}
    names = [state.map.entities[index].name for index in cluster.entities]
    documents = tuple((name, titles.get(name) or "–") for name in cluster.documents)
    queries = []
    for query in state.queries.get(region, []):
        values = (values_of_system.get(query.query_id) for values_of_system in systems.values())
        queries.append((QueryName(query.text, query.query_id), query.source, *values))
    tables = [Table(pluralize(len(documents), "document"), ("document", "title"), documents)]
    if queries:
        caption = pluralize(len(queries), "query", "queries")
        tables.append(Table(caption, ("query", "source", *systems), tuple(queries), words=True))
    remark = "" if queries else "\nNo query covers this region."
    heading = f"Region {region}: {isolate(cluster.name)}"
    sentence = f"Entities, with the most central first: {', '.join(map(isolate, names))}.{remark}"
    way_out = f"To write a query: goldgrade queries write --region {region} --queries 1 --annotators NAME"
    return Section(heading, sentence, (), tuple(tables), way_out, anchor)


def write_coverage_page(store: Store, results: EvaluatedValues | None = None) -> str:
    """Write the HTML page of the current coverage map, with systems' values if a run was evaluated.

    Raises
    ------
    RefusedError: there is no current map of the corpus.
    """
    with store.reading() as cursor:
        state = read_state(cursor)
        titles = snapshot_titles(cursor, state.map.snapshot_id, list(state.map.document_entities))
    anchors = {region: f"region-{region}" for region in state.map.regions}
    system = next(iter(results.systems)) if results else None
    drawing = build_map_section(state, results, system, lambda region: f"#{anchors[region]}")
    sections = [drawing, state.reliability, *build_region_sections(state, titles, results, anchors)]
    parameters = state.map.parameters
    remark = (
        f"Map {state.map.map_id[:12]}: resolution {parameters['resolution']:g}, {parameters['chosen']}; seed "
        f"{parameters['seed']}; a region has {parameters['least_documents']:,} documents or more."
    )
    return html_page("Coverage of the corpus", _write_findings(state, results), sections, remark)


def _write_findings(state: CoverageState, results: EvaluatedValues | None) -> list[str]:
    regions = state.regions
    share = "unknown" if regions.msc is None else percent(regions.msc)
    sentences = [
        f"{regions.zqc:,} of {pluralize(regions.clusters, 'region')} have no query; {share} have a query.",
        f"{pluralize(regions.queries, 'query is', 'queries are')} about a region, {len(state.unassigned):,} "
        "are about no region.",
    ]
    if state.unmatched:
        sentences.append(
            f"{pluralize(len(state.unmatched), 'query was', 'queries were')} added after coverage was "
            "measured, and are not counted yet."
        )
    if results is None:
        return [*sentences, "No run was chosen, so the map shows regions with a query as empty circles."]
    return [
        *sentences,
        f"Results: {results.measure} of {', '.join(results.systems)} on {results.name}. The values of "
        "the first system color the map.",
    ]


def make_region_marks(state: CoverageState, means: dict[int, float | None], link: Link) -> list[RegionMark]:
    """Make the marks that represent the corpus regions in drawings, by region number."""
    marks = []
    for region in state.map.regions:
        name, counts = state.map.clusters[region].name, state.clusters[region]
        marks.append(RegionMark(name, counts.documents, counts.queries, means.get(region), link(region)))
    return marks
