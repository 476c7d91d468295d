"""A sample next to the traffic it was drawn from: bars for each stratum, and one HTML page with a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from curation.core.reports.charts import BarGroup, bars
from curation.core.reports.page import Section, Table, html_page
from curation.core.text import amount, percent
from curation.queries.sampling.designs import Stratum

_COLUMNS = (
    "stratum", "queries", "traffic", "drawn", "mean probability", "share of traffic", "share of sample",
)  # fmt: skip


def sample_chart(strata: Sequence[Stratum]) -> Markup:
    """Two bars for each stratum: its share of the traffic and of the sample."""
    rows = [BarGroup(stratum.name, shares) for stratum, shares in zip(strata, _shares(strata), strict=True)]
    return bars(
        "Share of traffic and share of the sample by stratum",
        "Two bars for each stratum. The table has the same figures.",
        ("share of traffic", "share of sample"),
        rows,
    )


def sample_page(
    sample_id: str,
    strata: Sequence[Stratum],
    parameters: Mapping[str, Any],
    left_out: Mapping[str, int],
    warnings: Sequence[str],
) -> str:
    """A whole HTML page about a sample: how it was drawn, warnings, what was left out, chart and table.

    Parameters
    ----------
    parameters: name → value of what the draw was asked for; what is None, False or empty is not shown.
    left_out: reason → number of logged rows.
    """
    options = [_option(name, value) for name, value in parameters.items() if _is_set(value)]
    notes = [f"left out: {amount(count, 'row')} of traffic: {reason}" for reason, count in left_out.items()]
    section = Section("Strata", "\n".join([*warnings, *notes]), (sample_chart(strata),), (_table(strata),))
    return html_page(f"Sample {sample_id[:8]}", options, [section], lead="How it was drawn:")


def _shares(strata: Sequence[Stratum]) -> list[tuple[float, float]]:
    traffic = sum(stratum.traffic for stratum in strata) or 1
    drawn = sum(stratum.drawn for stratum in strata) or 1
    return [(stratum.traffic / traffic, stratum.drawn / drawn) for stratum in strata]


def _table(strata: Sequence[Stratum]) -> Table:
    rows = tuple(
        (
            *(stratum.name, stratum.population, stratum.traffic, stratum.drawn),
            None if stratum.probability is None else f"{stratum.probability:.4g}",
            *(percent(share, 1) for share in shares),
        )
        for stratum, shares in zip(strata, _shares(strata), strict=True)
    )
    return Table("Strata", _COLUMNS, rows)


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value not in ({}, [])


def _option(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key} = {number}" for key, number in value.items())
    elif isinstance(value, list | tuple):
        value = (" × " if name == "strata" else ", ").join(map(str, value))
    elif isinstance(value, float):
        value = f"{value:.4g}"
    return f"{name.replace('_', ' ')}: {value}"
