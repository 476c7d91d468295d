"""A sample beside the traffic it was drawn from: bars for each stratum, and a page that needs no network.

The page is one file without scripts, images or fonts of its own, readable in light and dark. The figures
of the bars stand in the table below them. Same report, same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from unicodedata import east_asian_width

from curation.sampling.designs import Stratum

_WIDTH = 720
_NAME = 220  # where the bars begin
_BAR = 11
_ROW = 40
_LEGEND = 28
_LETTERS = 30  # of a name on one line beside the bars
_LINE = 16
_LINES = 6  # of a name; the tooltip and the table have all of it

_STYLE = """
:root { color-scheme: light dark;
  --traffic: light-dark(#8a8f8c, #9aa4ad); --sample: light-dark(#1f6b66, #7cc4bd); }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
figure { margin: 1.5rem 0; overflow-x: auto; }
svg { width: 100%; min-width: 30rem; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
svg .figure { font-size: 11px; font-variant-numeric: tabular-nums; }
.traffic { fill: var(--traffic); } .sample { fill: var(--sample); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: start; font-weight: 600; }
th, td { padding: .35rem 1.25rem .35rem 0; text-align: end; border-bottom: 1px solid rgb(128 128 128 / .35); }
th:first-child { text-align: start; overflow-wrap: anywhere; }
tbody th { font-weight: 400; }
""".strip()

_COLUMNS = (
    "stratum", "queries", "traffic", "drawn", "mean probability", "share of traffic", "share of sample",
)  # fmt: skip


def bars(strata: Sequence[Stratum]) -> str:
    """An SVG element with two bars for each stratum: its share of the traffic and of the sample."""
    shares = _shares(strata)
    longest = max((share for pair in shares for share in pair), default=0.0) or 1.0
    rows, height = [], _LEGEND
    for stratum, pair in zip(strata, shares, strict=True):
        lines = _lines(stratum.name)
        rows.append(_row(stratum.name, lines, pair, longest, height))
        height += max(_ROW, _LINE * len(lines) + _ROW - 2 * _LINE)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="chart-title chart-text">'
        '<title id="chart-title">Share of traffic and share of the sample by stratum</title>'
        '<desc id="chart-text">Two bars for each stratum. The table has the same figures.</desc>'
        f"{_legend('traffic', 'share of traffic', _NAME)}{_legend('sample', 'share of sample', _NAME + 150)}"
        f"{''.join(rows)}</svg>"
    )


def sample_page(
    sample_id: str,
    strata: Sequence[Stratum],
    parameters: Mapping[str, Any],
    left_out: Mapping[str, int],
    warnings: Sequence[str],
) -> str:
    """A whole HTML page about a sample: how it was drawn, chart, table, what was left out and warnings.

    Parameters
    ----------
    parameters: name → value of what the draw was asked for; what is None, False or empty is not shown.
    left_out: reason → number of logged rows.
    """
    title = f"Sample {escape(sample_id[:8])}"
    how = "".join(
        f"<li>{escape(_told(name, value))}</li>" for name, value in parameters.items() if _is_told(value)
    )
    notes = [f"left out: {count:,} rows of traffic: {reason}" for reason, count in left_out.items()]
    told = "".join(f"<p>{escape(note)}</p>\n" for note in [*warnings, *notes])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>How it was drawn:</p>
<ul>{how}</ul>
{told}<figure>{bars(strata)}</figure>
<div class="scroll" role="region" aria-label="Strata" tabindex="0">{_table(strata)}</div>
</main>
</body>
</html>
"""


def _shares(strata: Sequence[Stratum]) -> list[tuple[float, float]]:
    traffic = sum(stratum.traffic for stratum in strata) or 1
    drawn = sum(stratum.drawn for stratum in strata) or 1
    return [(stratum.traffic / traffic, stratum.drawn / drawn) for stratum in strata]


def _legend(kind: str, text: str, x: int) -> str:
    return (
        f'<rect class="{kind}" x="{x}" y="4" width="{_BAR}" height="{_BAR}"/>'
        f'<text x="{x + _BAR + 6}" y="14">{text}</text>'
    )


def _row(name: str, lines: Sequence[str], shares: tuple[float, float], longest: float, y: int) -> str:
    first = y + (_BAR + 5 if len(lines) == 1 else _BAR)
    parts = [f"<g><title>{escape(name)}</title>"]
    parts += [
        f'<text x="0" y="{first + number * _LINE}">{escape(line)}</text>' for number, line in enumerate(lines)
    ]
    for number, (kind, share) in enumerate(zip(("traffic", "sample"), shares, strict=True)):
        top = y + number * (_BAR + 2)
        length = share / longest * (_WIDTH - _NAME - 60)
        parts.append(
            f'<rect class="{kind}" x="{_NAME}" y="{top}" width="{length:.1f}" height="{_BAR}"/>'
            f'<text class="figure" x="{_NAME + length + 6:.1f}" y="{top + 10}">{share:.1%}</text>'
        )
    return "".join([*parts, "</g>"])


def _lines(name: str) -> list[str]:
    """A name in lines that fit beside the bars; signs of East Asia are as wide as two letters."""
    lines = [""]
    for word in name.split():
        if lines[-1] and _width(f"{lines[-1]} {word}") > _LETTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
        while _width(lines[-1]) > _LETTERS:
            fits = next(end for end in range(_LETTERS, 0, -1) if _width(lines[-1][:end]) <= _LETTERS)
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    shown = lines[:_LINES]
    return [*shown[:-1], f"{shown[-1][: _LETTERS // 2 - 1]}…"] if len(lines) > _LINES else lines


def _width(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _table(strata: Sequence[Stratum]) -> str:
    head = "".join(f'<th scope="col">{column}</th>' for column in _COLUMNS)
    rows = "".join(
        f'<tr><th scope="row">{escape(stratum.name)}</th>'
        + "".join(f"<td>{number:,}</td>" for number in (stratum.population, stratum.traffic, stratum.drawn))
        + f"<td>{'–' if stratum.probability is None else f'{stratum.probability:.4g}'}</td>"
        + "".join(f"<td>{share:.1%}</td>" for share in pair)
        + "</tr>\n"
        for stratum, pair in zip(strata, _shares(strata), strict=True)
    )
    return f"<table><caption>Strata</caption><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _is_told(value: Any) -> bool:
    return value is not None and value is not False and value not in ({}, [])


def _told(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key} = {number}" for key, number in value.items())
    elif isinstance(value, list | tuple):
        value = (" × " if name == "strata" else ", ").join(map(str, value))
    elif isinstance(value, float):
        value = f"{value:.4g}"
    return f"{name.replace('_', ' ')}: {value}"
