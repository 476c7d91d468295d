"""Report, comparison of systems.

The leaderboard, differences of the headline measure and how often the order holds; how much the lists have in
common; two systems query by query; and which unjudged documents could turn the order of two systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from curation.evaluation.comparison.order import OrderReport, why_no_order
from curation.evaluation.comparison.pairs import MOST_PAIRS, Comparison
from curation.evaluation.comparison.similar_lists import DEEPEST, DEPTHS, PERSISTENCE, Turning
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import interval
from curation.evaluation.request import HOLM_COLUMN, TESTS, DecidingTest
from curation.reports.charts import Mark
from curation.reports.page import QueryName, Section, Table
from curation.reports.plots import DotRow, PlotPoint, dot_plot, scatter
from curation.scoring.inputs.run_chunks import said_of_texts
from curation.scoring.metrics.measures import measures_named
from curation.text import amount, p_cell

MOST_ROWS = 30
"""Differences that are drawn; the tables have all."""


def write_comparison(found: Evaluation) -> list[Section]:
    if not found.comparisons:
        return []
    measure = found.comparisons[0].measure
    own = [one for one in found.comparisons if one.measure == measure]
    overall = [one for one in own if one.stratum is None]
    strata = [one for one in own if one.stratum is not None and one.no_verdict is None]
    sections = [_overall(found, measure, overall)]
    if strata:
        sections.append(_strata(measure, strata))
    sections.append(_order(found.order))
    return sections


def _overall(found: Evaluation, measure: str, compared: Sequence[Comparison]) -> Section:
    deciding = compared[0].deciding
    differences = _differences(f"{measure}: differences", compared)
    tables = [differences, _reach(compared), *every_test(measure, compared)]
    if board := found.leaderboards.get(measure):
        rows = tuple(
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}", row.better_than)
            for row in board
        )
        columns = ("system", measure, "group", "possible ranks", "better than")
        tables.insert(0, Table("Systems with a common letter cannot be distinguished", columns, rows))
    sentence = (
        f"Differences are of the same queries. {about_p(deciding, len(compared))} “Detects” is the "
        "difference that as many such queries find in 80 % of sets."
    )
    if measures_named([measure])[0].of_chunks and (unsure := said_of_texts(_by_text(found))):
        sentence += f"\n{unsure}"
    note = "A small p says that a difference is more than noise. The interval says how large it may be."
    return Section(
        "Comparison", sentence, _drawings(f"{measure}: differences", compared), tuple(tables), note
    )


def _by_text(found: Evaluation) -> dict[str, bool]:
    """System → whether it has chunks by texts that their documents have several times."""
    return {one.name: any(facts.chunks and facts.chunks.twice for facts in one.files) for one in found.runs}


def _strata(measure: str, compared: Sequence[Comparison]) -> Section:
    tested, apart = len(compared), [one for one in compared if one.distinguished]
    sentence = (
        f"{tested:,} comparisons of {measure} were tested together; in {len(apart):,} of them the systems "
        "can be distinguished."
    )
    title = f"{measure}: differences by kind of query"
    drawn = apart if len(compared) > MOST_ROWS else compared
    return Section(
        "Comparison by kind of query", sentence, _drawings(title, drawn), (_differences(title, compared),)
    )


def _drawings(title: str, compared: Sequence[Comparison]) -> tuple[Markup, ...]:
    rows = [
        DotRow(_pair(one), "", [Mark("", one.difference, one.low, one.high)])
        for one in compared[:MOST_ROWS]
        if one.difference is not None
    ]
    return (dot_plot(title, [""], rows, line=0.0),) if rows else ()


def _pair(one: Comparison) -> str:
    stratum = "" if one.stratum is None else f", {one.stratum.value}"
    return f"{one.system} − {one.other}{stratum}"


def _differences(caption: str, compared: Sequence[Comparison]) -> Table:
    deciding = compared[0].deciding
    columns = ("systems", "difference", "95 %", "p", HOLM_COLUMN, "queries", "note")
    rows = tuple(
        (_pair(one), one.difference, interval(one), p_cell(one.p), p_cell(one.p_corrected), one.n, one.note)
        for one in compared
    )
    return Table(f"{caption}; {deciding.words}", columns, rows)


def about_p(deciding: DecidingTest, pairs: int) -> str:
    """What p is, in a sentence."""
    return f"p is that of {TESTS[deciding.test].words}, with Holm's correction for {amount(pairs, 'pair')}."


def every_test(measure: str, compared: Sequence[Comparison]) -> list[Table]:
    """The p of each test that was made, uncorrected; none where fewer than ten queries have a figure."""
    made = [test for test in TESTS if any(getattr(one, f"p_{test}") is not None for one in compared)]
    if not made:
        return []
    rows = [(_pair(one), *(p_cell(getattr(one, f"p_{test}")) for test in made)) for one in compared]
    caption = f"{measure}: p of each test, not corrected"
    return [Table(caption, ("systems", *(TESTS[test].short for test in made)), tuple(rows))]


def _reach(compared: Sequence[Comparison]) -> Table:
    rows = tuple(
        (
            _pair(one),
            "–" if one.wins is None else f"{one.wins}\u00a0/\u00a0{one.ties}\u00a0/\u00a0{one.losses}",
            *(one.effect, one.detectable, one.queries_needed),
        )
        for one in compared
    )
    wanted = next((one.wanted for one in compared if one.wanted is not None), None)
    needs = "needs" if wanted is None else f"needs for {wanted:g}"
    return Table(
        "What these queries can detect", ("systems", "win / tie / loss", "effect", "detects", needs), rows
    )


def _order(order: OrderReport | None) -> Section:
    why = why_no_order(order)
    if order is None or why is not None:
        return Section("How stable the ranking is", why or "", (), ())
    sentence = (
        "Queries are drawn again many times. Kept least is the pair whose order changes most often. "
        "Tau compares the ranking with that of the means."
    )
    if (noise := order.noise) is not None:
        pairs = amount(noise.judged, "pair")
        sentence += f"\nLabels are drawn as annotators differ on {pairs} that two or more judged."
        if noise.unmeasured:
            grades = ", ".join(map(str, noise.unmeasured))
            sentence += f" No such pair has the grade {grades}: it remains as it is."
    rows = []
    for view in order.views:
        ordered = [one for one in view.pairs if one.holds is not None and one.kept is not None]
        kept = [(one.kept, f"{one.ahead} before {one.behind}") for one in ordered]
        least, pair = min(kept, default=(None, "–"))
        rows.append((view.name, view.tau, view.mean_tau, pair, least))
    columns = ("by", "tau", "mean tau of draws", "kept least", "share of draws")
    tables = [Table(order.measure, columns, tuple(rows)), *by_measure(order)]
    return Section("How stable the ranking is", sentence, (), tuple(tables))


def by_measure(order: OrderReport) -> list[Table]:
    """How much the other measures order the systems alike."""
    caption = f"The order by other measures against that by {order.measure}; τ_AP weighs the top most"
    return [Table(caption, ("measure", "tau", "τ_AP"), order.by_measure)] if order.by_measure else []


SIMILAR = "How similar the lists are"
ABOUT_SIMILAR = (
    f"Overlap is the share of the first {' or '.join(map(str, DEPTHS))} documents that are the same. RBO, "
    f"rank-biased overlap with p = {PERSISTENCE:g}, weighs the first ranks most: 1 is the same list, 0 has "
    "nothing in common. τ_AP compares the order of the documents that both have: 1 is the same order, 0 is "
    f"chance. Lists are looked at down to {DEEPEST}, equal scores in the order of document ids. Of chunks "
    "their documents are compared."
)


def write_similar_lists(found: Evaluation) -> list[Section]:
    if len(found.runs) < 2:
        return []
    if not found.similar_lists:
        why = f"Lists are compared for up to {MOST_PAIRS} pairs of systems: name a baseline for more systems."
        return [Section(SIMILAR, why)]
    columns = ("systems", *(f"overlap@{depth}" for depth in DEPTHS), "RBO", "τ_AP", "queries")
    rows = tuple(
        (f"{one.system}, {one.other}", *one.overlap.values(), one.rbo, one.tau_ap, one.n)
        for one in found.similar_lists
    )
    return [
        Section(SIMILAR, ABOUT_SIMILAR, (), (Table("Means over queries; no grade is read", columns, rows),))
    ]


QUERY_BY_QUERY = "Query by query"
RESULTS = ("won", "lost", "tied", "zero")
NAMED = 5
"""Queries that are named at either end."""


class QueryValues(NamedTuple):
    """A query with the values of two systems; of one system alone the first value is 0."""

    query_id: str
    text: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def result(self) -> str:
        """Of the second system, out of `RESULTS`; `zero` is 0 for both."""
        if not (self.first or self.second):
            return "zero"
        return "won" if self.difference > 0 else "lost" if self.difference < 0 else "tied"


def write_queries(found: Evaluation) -> list[Section]:
    if found.query_ids is None:
        return []
    return [_of_one(found) if len(found.runs) == 1 else _of_two(found)]


def _of_two(found: Evaluation) -> Section:
    """The first two systems; the others are compared in the section on pairs."""
    first, second = (system.name for system in found.runs[:2])
    headline, rows = found.measures[0], _values(found, 0, 1)
    by_difference = sorted(rows, key=lambda row: (row.difference, row.query_id))
    worse = [row for row in by_difference[:NAMED] if row.difference < 0]
    better = [row for row in by_difference[::-1][:NAMED] if row.difference > 0]
    labels = {row.query_id: str(number) for number, row in enumerate([*better, *worse], 1)}
    points = [
        PlotPoint(
            row.first,
            row.second,
            f"{row.text}: {row.first:.3f}, {row.second:.3f}",
            labels.get(row.query_id, ""),
        )
        for row in rows
    ]
    equal = sum(row.difference == 0 for row in rows)
    sentence = (
        f"Each point is a query: {headline} of {first} across, of {second} up. Above the line {second} is "
        f"better. {equal:,} of {amount(len(rows), 'query', 'queries')} are equal."
    )
    if len(found.runs) > 2:
        sentence += f"\nThe first two of {len(found.runs):,} systems are drawn."
    columns = ("number", "query", "query id", first, second, "difference")
    tables = [
        Table(
            caption,
            columns,
            tuple((int(labels[r.query_id]), *_cells(r), r.difference) for r in chosen),
        )
        for caption, chosen in ((f"{second} gains most", better), (f"{second} loses most", worse))
        if chosen
    ]
    drawing = scatter(f"{headline}, query by query", first, second, points)
    return Section(QUERY_BY_QUERY, sentence, (drawing,), tuple(tables))


def _of_one(found: Evaluation) -> Section:
    name, headline, rows = found.runs[0].name, found.measures[0], _values(found, 0, 0)
    ordered = sorted(rows, key=lambda row: (row.first, row.query_id))
    columns = ("query", "query id", headline)
    tables = tuple(
        Table(
            caption,
            columns,
            tuple((QueryName(row.text, row.query_id), row.query_id, row.first) for row in chosen),
        )
        for caption, chosen in (
            (f"Lowest of {name}", ordered[:NAMED]),
            (f"Highest of {name}", ordered[::-1][:NAMED]),
        )
    )
    zero = sum(row.first == 0 for row in rows)
    return Section(QUERY_BY_QUERY, f"{zero:,} of {amount(len(rows), 'query', 'queries')} have 0.", (), tables)


def _values(found: Evaluation, first: int, second: int) -> list[QueryValues]:
    """Queries with a value of both systems by the headline measure."""
    headline, texts = found.measures[0], found.query_texts or ()
    one, other = ((found.runs[place].per_query or {})[headline] for place in (first, second))
    rows = zip(found.query_ids or (), texts, one, other, strict=True)
    return [QueryValues(name, text, x, y) for name, text, x, y in rows if x is not None and y is not None]


def _cells(row: QueryValues) -> tuple[QueryName, str, float, float]:
    return QueryName(row.text, row.query_id), row.query_id, row.first, row.second


MOST_DOCUMENTS = 20
"""Documents in a table."""
NO_RANK = "–"


def write_turning(found: Evaluation) -> list[Section]:
    if not found.turning:
        return []
    sentence = "\n".join(
        [
            "Each system is compared with the next. An unjudged document is tried with the highest grade.",
            *map(_turning_sentence, found.turning),
        ]
    )
    tables = tuple(_turning_documents(pair) for pair in found.turning if pair.documents)
    return [Section("Unjudged documents that could change the ranking", sentence, (), tables)]


def _turning_sentence(pair: Turning) -> str:
    about = (
        f"{pair.first} is {pair.difference:.3f} above {pair.second} by {pair.measure}, with "
        f"{pair.unjudged:,} unjudged documents"
    )
    if pair.needed is None:
        return f"{about}: all of them together could not reverse that."
    return f"{about}: {pair.needed:,} of them could reverse that."


def _turning_documents(pair: Turning) -> Table:
    shown = min(MOST_DOCUMENTS, len(pair.documents))
    caption = (
        f"The first {shown:,} of {amount(len(pair.documents), 'document')} that would help {pair.second}"
    )
    columns = ("query", "document", f"rank in {pair.first}", f"rank in {pair.second}", "effect")
    rows = tuple(
        (
            *(QueryName(one.query_id, one.query_id, one.document_id), one.document_id),
            *(NO_RANK if rank is None else rank for rank in (one.rank_first, one.rank_second)),
            one.effect,
        )
        for one in pair.documents[:MOST_DOCUMENTS]
    )
    return Table(caption, columns, rows)
