"""The agreement report as one HTML file: no scripts, no network. The same report gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from curation.agreement.report import AgreementReport, findings
from curation.agreement.sections import Section, Table, sections
from curation.agreement.talking import AnnotatorDetails
from curation.agreement.talks import talks

_STYLE = """
:root { color-scheme: light dark; --sample: light-dark(#1f6b66, #7cc4bd); }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
section { margin: 2.5rem 0; }
figure { margin: 1rem 0; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
svg .figure { font-size: 12px; font-variant-numeric: tabular-nums; }
.quiet { font-size: .875rem; opacity: .8; }
.scroll { overflow-x: auto; margin-bottom: 1.25rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: start; font-size: .875rem; opacity: .8; padding-bottom: .25rem; }
th, td { padding: .35rem 1.25rem .35rem 0; text-align: start; vertical-align: top;
  border-bottom: 1px solid rgb(128 128 128 / .35); }
td { overflow-wrap: anywhere; }
td:first-child:not(.number) { min-width: 11em; }
th { font-weight: 400; font-size: .875rem; opacity: .8; }
.number { text-align: end; white-space: nowrap; }
""".strip()


def agreement_page(report: AgreementReport, people: Sequence[AnnotatorDetails] = ()) -> str:
    """A whole HTML page about a report, asked for with details, and about everybody's own work."""
    title = f"Agreement in round {report.round_name}" if report.round_name else "Agreement"
    remark = f"Intervals: 95 %, {report.resamples:,} resamples of queries, seed {report.seed}."
    return html_page(title, findings(report), remark, [*sections(report), talks(people)])


def html_page(title: str, told: Iterable[str], remark: str, parts: Iterable[Section]) -> str:
    """A whole HTML page: what is told first, a quiet remark, then section by section."""
    points = "".join(f"<li>{escape(sentence)}</li>" for sentence in told)
    drawn = "\n".join(_section(section) for section in parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<ul>{points}</ul>
<p class="quiet">{escape(remark)}</p>
{drawn}
</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    drawn = "".join(f"<figure>{drawing}</figure>\n" for drawing in section.drawings)
    tables = "".join(_table(table) for table in section.tables)
    remark = f'<p class="quiet">{escape(section.remark)}</p>\n' if section.remark else ""
    return (
        f"<section>\n<h2>{escape(section.heading)}</h2>\n<p>{escape(section.sentence)}</p>\n"
        f"{drawn}{tables}{remark}</section>"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" role="region" aria-label="{escape(table.caption)}" tabindex="0"><table>'
        f"<caption>{escape(table.caption)}</caption><thead><tr>{head}</tr></thead>\n"
        f"<tbody>{rows}</tbody></table></div>\n"
    )


def _cell(value: object) -> str:
    if value is None:
        return '<td class="number">–</td>'
    if isinstance(value, int | float):
        return f'<td class="number">{f"{value:,}" if isinstance(value, int) else f"{value:.3f}"}</td>'
    return f"<td>{escape(str(value))}</td>"
