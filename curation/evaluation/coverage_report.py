"""The coverage map of the corpus as one HTML file, coloured by a measure of the evaluated systems.

The drawings link to a section on each region.
"""

from __future__ import annotations

from math import fsum

from curation.core.characters import isolate
from curation.core.reports.page import Section, html_page
from curation.core.reports.regions import RegionMark, region_map
from curation.core.reports.tables import QueryName, Table
from curation.core.text import pluralize
from curation.evaluation.by_query import EvaluatedValues, ValuesByQuery
from curation.queries.coverage.state import CoverageState, read_state
from curation.store import Store
from curation.store.documents import snapshot_titles


def average_by_region(state: CoverageState, values: ValuesByQuery) -> dict[int, float | None]:
    """Average the measure over each region's queries, by region number; None for a region whose queries have
    no value."""
    means = {}
    for region in state.map.regions:
        region_values = [values.get(query.query_id) for query in state.queries.get(region, [])]
        query_values = [value for value in region_values if value is not None]
        means[region] = fsum(query_values) / len(query_values) if query_values else None
    return means


def build_map_section(state: CoverageState, results: EvaluatedValues | None) -> Section:
    """Draw the regions of the coverage map, coloured by the first system; `results` is None without a run."""
    system = next(iter(results.systems)) if results else ""
    measure = f"{results.measure} of {system}" if results else "no run"
    means = average_by_region(state, results.systems[system] if results else {})
    marks = []
    for region in state.map.regions:
        name, counts = state.map.clusters[region].name, state.clusters[region]
        link = f"#region-{region}"
        marks.append(RegionMark(name, counts.documents, counts.queries, means.get(region), link))
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


def _show_region(
    state: CoverageState, region: int, titles: dict[str, str], results: EvaluatedValues | None
) -> Section:
    """Show a region's entities, documents and queries, and the command that asks people for a query."""
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
    return Section(heading, sentence, (), tuple(tables), way_out, f"region-{region}")


def write_coverage_page(store: Store, results: EvaluatedValues | None = None) -> str:
    """Write the HTML page of the current coverage map, with systems' values if a run was evaluated.

    Raises
    ------
    RefusedError: there is no current map of the corpus.
    """
    with store.reading() as cursor:
        state = read_state(cursor)
        titles = snapshot_titles(cursor, state.map.snapshot_id, list(state.map.document_entities))
    sections = [build_map_section(state, results), state.reliability]
    sections += [_show_region(state, region, titles, results) for region in state.map.regions]
    parameters = state.map.parameters
    remark = (
        f"Map {state.map.map_id[:12]}: resolution {parameters['resolution']:g}, {parameters['chosen']}; seed "
        f"{parameters['seed']}; a region has {parameters['least_documents']:,} documents or more."
    )
    return html_page("Coverage of the corpus", _write_findings(state, results), sections, remark)


def _write_findings(state: CoverageState, results: EvaluatedValues | None) -> list[str]:
    regions = state.regions
    sentences = [
        state.sentence,
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
