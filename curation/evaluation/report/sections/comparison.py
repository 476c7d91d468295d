"""Report, comparison: the leaderboard, differences of the headline measure, and how often the order holds."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.evaluation.comparison.deciding import TESTS, TUKEY, DecidingTest
from curation.evaluation.comparison.order import OrderReport, why_no_order
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection, interval
from curation.reports.charts import Mark
from curation.reports.page import Section, Table
from curation.reports.plots import DotRow, dot_plot
from curation.text import amount, p_cell

MOST_ROWS = 30
"""Differences that are drawn; the tables have all."""


def write(found: Evaluation) -> list[Section]:
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
    note = "A small p says that a difference is more than noise. The interval says how large it may be."
    return Section(
        "Comparison", sentence, _drawings(f"{measure}: differences", compared), tuple(tables), note
    )


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
    columns = ("systems", "difference", "95 %", "p", deciding.column, "queries", "note")
    rows = tuple(
        (_pair(one), one.difference, interval(one), p_cell(one.p), p_cell(one.p_corrected), one.n, one.note)
        for one in compared
    )
    return Table(f"{caption}; {deciding.words}", columns, rows)


def about_p(deciding: DecidingTest, pairs: int) -> str:
    """What p is, in a sentence."""
    if deciding.test == TUKEY:
        return "p is that of the randomised Tukey HSD, of all pairs at once."
    return f"p is that of {TESTS[deciding.test].words}, with {deciding.after} for {amount(pairs, 'pair')}."


def every_test(measure: str, compared: Sequence[Comparison]) -> list[Table]:
    """The p of each test that was made, uncorrected; none where fewer than ten queries have a figure."""
    made = [test for test in TESTS if any(getattr(one, f"p_{test}") is not None for one in compared)]
    if not made:
        return []
    rows = [(_pair(one), *(p_cell(getattr(one, f"p_{test}")) for test in made)) for one in compared]
    caption = f"{measure}: p of each test, not corrected"
    caption += "; Tukey HSD is of all pairs at once" if TUKEY in made else ""
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
        "What the queries can show", ("systems", "win / tie / loss", "effect", "detects", needs), rows
    )


def _order(order: OrderReport | None) -> Section:
    why = why_no_order(order)
    if order is None or why is not None:
        return Section("How often the order holds", why or "", (), ())
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
        kept = [(one.kept, f"{one.ahead} before {one.behind}") for one in view.pairs if one.kept is not None]
        least, pair = min(kept, default=(None, "–"))
        rows.append((view.name, view.tau, view.mean_tau, pair, least))
    columns = ("by", "tau", "mean tau of draws", "kept least", "share of draws")
    tables = [Table(order.measure, columns, tuple(rows)), *by_measure(order)]
    return Section("How often the order holds", sentence, (), tuple(tables))


def by_measure(order: OrderReport) -> list[Table]:
    """How much the other measures order the systems alike."""
    caption = f"The order by other measures against that by {order.measure}; τ_AP weighs the top most"
    return [Table(caption, ("measure", "tau", "τ_AP"), order.by_measure)] if order.by_measure else []


SECTION = ReportSection(20, write)
