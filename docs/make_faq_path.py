"""Write the tables of docs/faq-path.md from a run of its commands; tests/pipeline keeps the two alike.

Usage: python -m docs.make_faq_path
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support import faq

TARGET = Path(__file__).with_name("faq-path.md")
MARKED = re.compile(r"(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
PARTS = ("dev", "test")
SHOWN_ROWS = 6
LISTS = ("without_hard", "with_hard", "drop")


def page(text: str, answers: Mapping[str, Any]) -> str:
    """`text` of docs/faq-path.md with its tables written again.

    Parameters
    ----------
    answers: of the steps, as `faq.walk` gives them.
    """
    tables = {
        "figures": _figures(answers),
        "hard negatives": _hard_negatives(answers),
        "pairs": _pairs(answers),
    }
    return MARKED.sub(lambda match: match[1] + "".join(tables[match[2]]) + match[3], text)


def _figures(answers: Mapping[str, Any]) -> Iterator[str]:
    yield "| part | measure | mean | 95 % interval |\n|---|---|---|---|\n"
    for part in PARTS:
        for measure, one in answers[part]["runs"][0]["overall"].items():
            interval = f"{one['low']:.3f} – {one['high']:.3f}"
            yield f"| {part} | {measure} | {one['value']:.3f} | {interval} |\n"


def _hard_negatives(answers: Mapping[str, Any]) -> Iterator[str]:
    yield "| part | measure | without hard negatives | with them | difference |\n|---|---|---|---|---|\n"
    for part in PARTS:
        found = answers[part]["hard_negatives"]["systems"]["bm25"]
        for measure in answers[part]["measures"]:
            cells = [found[name][measure] for name in LISTS]
            shown = (f"{one['value']:.3f} ({one['low']:.3f} – {one['high']:.3f})" for one in cells)
            yield f"| {part} | {measure} | {' | '.join(shown)} |\n"


def _pairs(answers: Mapping[str, Any]) -> Iterator[str]:
    yield "```\n"
    yield from (f"{row}\n" for row in answers["rows"][:SHOWN_ROWS])
    yield "```\n"


def main() -> None:
    with TemporaryDirectory() as folder:
        answers = faq.walk(Path(folder))
    TARGET.write_text(page(TARGET.read_text(encoding="utf-8"), answers), encoding="utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
