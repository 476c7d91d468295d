"""Report, comparison: the leaderboard, differences of the headline measure, and how often the order holds."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from curation.evaluation.comparison.order import OrderReport, why_no_order
from curation.evaluation.comparison.pairs import DECIDES, Comparison
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection, interval
from curation.reports.charts import Mark
from curation.reports.page import Section, Table
from curation.reports.plots import DotRow, dot_plot
from curation.text import amount

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
    tables = [_differences(f"{measure}: differences", compared), _reach(compared)]
    if board := found.leaderboards.get(measure):
        rows = tuple(
            (row.system, row.value, row.letters, f"{row.best_rank}–{row.worst_rank}", row.better_than)
            for row in board
        )
        columns = ("system", measure, "group", "possible ranks", "better than")
        tables.insert(0, Table("Systems with a common letter cannot be distinguished", columns, rows))
    sentence = (
        "Differences are of the same queries. p is that of Fisher's randomisation test, corrected by Holm "
        f"for {amount(len(compared), 'pair')}. “Detects” is the difference that as many such queries "
        "find in 80 % of "
        "sets."
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
    columns = ("systems", "difference", "95 %", "p", "p Holm", "queries", "note")
    rows = tuple(
        (_pair(one), one.difference, interval(one), one.p_randomisation, one.p_holm, one.n, one.note)
        for one in compared
    )
    return Table(f"{caption}; {DECIDES}", columns, rows)


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
        "Queries are drawn again many times. Kept least is the pair whose order holds in the fewest draws. "
        "Tau compares the ranking with that of the means."
    )
    rows = []
    for view in order.views:
        kept = [(one.kept, f"{one.ahead} before {one.behind}") for one in view.pairs if one.kept is not None]
        least, pair = min(kept, default=(None, "–"))
        rows.append((view.name, view.tau, view.mean_tau, pair, least))
    columns = ("by", "tau", "mean tau of draws", "kept least", "share of draws")
    return Section("How often the order holds", sentence, (), (Table(order.measure, columns, tuple(rows)),))


SECTION = ReportSection(20, write)
