"""How often the intervals of agreement on evidence hold the value of the population, and how wide they are.

    python -m benchmarks.bench_evidence_agreement [SAMPLES] [SIZES] [VARIANTS]

Smallest: python -m benchmarks.bench_evidence_agreement 5 10 1
Needs: ../shared/data

No set here has the marks of two people. So two are made of each excerpt of the public set with evidence, on a
page of real text around it, in the ways in which people differ: a sentence more before or after, the whole
paragraph, one of several excerpts, or another sentence. A large population of such pairs has a value of F1;
samples of 10 to 100 pairs, each of a query of its own, have intervals.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from curation.agreement.between.evidence import evidence_agreement
from curation.agreement.between.inter_annotator import AgreementFigure
from curation.presentation.markable import sentence_spans
from curation.settling.evidence import MarkedEvidence, PairMarks
from curation.spans import Span, Spans, intersection, union

SET = Path(__file__).parents[2] / "shared/data/evidence"
PAGE, VARIANTS = 3_000, 20
"""Characters of a page, and pairs of people for each question."""
WAYS = {"same": 0.5, "before": 0.1, "after": 0.12, "paragraph": 0.12, "one": 0.1, "elsewhere": 0.06}
"""How often somebody marks in this way; the first one is the excerpt's own sentences."""


class Page(NamedTuple):
    """Part of a document, its sentences, and the excerpts in it."""

    text: str
    sentences: list[Span]
    excerpts: list[Span]


class Coverage(NamedTuple):
    """Samples of one size: the share of intervals that hold the population's F1, and their mean width."""

    pairs: int
    held: float
    width: float
    none: float


def pages(folder: Path = SET) -> Iterator[Page]:
    """The questions' pages: a document from some way before its first excerpt on."""
    texts = {path.stem: path.read_bytes().decode() for path in folder.glob("*.md")}
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = [(one["start_index"], one["end_index"]) for one in json.loads(row["references"])]
            start = max(0, min(found)[0] - PAGE // 3)
            text = texts[row["corpus_id"]][start : start + PAGE]
            inside = [(low - start, high - start) for low, high in found if high - start <= len(text)]
            if inside:
                yield Page(text, sentence_spans(text), inside)


def marked(page: Page, way: str, random: np.random.Generator) -> Spans:
    """What somebody marks who differs in this way: whole sentences, as the screen marks them."""
    excerpts = page.excerpts
    if way == "one":
        excerpts = [excerpts[random.integers(len(excerpts))]]
    chosen = [place for place, one in enumerate(page.sentences) if intersection([one], excerpts)]
    first, last = chosen[0], chosen[-1]
    if way == "elsewhere":
        chosen = [int(random.integers(len(page.sentences)))]
    elif way == "paragraph":
        low, high = page.sentences[first][0], page.sentences[last][1]
        low = page.text.rfind("\n\n", 0, low) + 1
        high = page.text.find("\n\n", high) if "\n\n" in page.text[high:] else len(page.text)
        chosen = [place for place, one in enumerate(page.sentences) if low <= one[0] and one[1] <= high]
    elif way in ("before", "after"):
        chosen = [*chosen, max(0, first - 1) if way == "before" else min(last + 1, len(page.sentences) - 1)]
    return union(page.sentences[place] for place in chosen)


def population(seed: int = 1, variants: int = VARIANTS) -> list[PairMarks]:
    """Pairs that two people marked."""
    random = np.random.default_rng(seed)
    ways, odds = list(WAYS), np.array(list(WAYS.values())) / sum(WAYS.values())
    return [
        PairMarks(
            "",
            tuple(
                MarkedEvidence(name, 3, marked(page, ways[random.choice(len(ways), p=odds)], random), ())
                for name in ("ada", "ben")
            ),
        )
        for page in pages()
        for _ in range(variants)
    ]


def measured(samples: int, sizes: list[int], variants: int = VARIANTS) -> Iterator[Coverage]:
    """The coverage of the interval in samples of these sizes."""
    everything = population(variants=variants)
    truth = _f1(everything).value or 0.0
    random = np.random.default_rng(2)
    for size in sizes:
        figures = [
            _f1(everything[row] for row in random.integers(len(everything), size=size))
            for _ in range(samples)
        ]
        shown = [(f1.low, f1.high) for f1 in figures if f1.low is not None and f1.high is not None]
        held = sum(low <= truth <= high for low, high in shown) / max(1, len(shown))
        width = sum(high - low for low, high in shown) / max(1, len(shown))
        yield Coverage(size, held, width, 1 - len(shown) / samples)


def _f1(pairs: Iterable[PairMarks]) -> AgreementFigure:
    agreement = evidence_agreement({(f"{row:06}", "d"): marks for row, marks in enumerate(pairs)})
    assert agreement is not None
    return agreement.f1


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    sizes = [int(one) for one in sys.argv[2].split(",")] if len(sys.argv) > 2 else [10, 25, 50, 100]
    variants = int(sys.argv[3]) if len(sys.argv) > 3 else VARIANTS
    if not SET.is_dir():
        raise SystemExit(f"the shared data is not at {SET.parent}")
    print(f"{samples:,} samples; share of intervals that hold the population's value, mean width")
    for one in measured(samples, sizes, variants):
        print(f"{one.pairs:4} pairs  {one.held:6.1%}  {one.width:.3f}  none {one.none:.1%}")


if __name__ == "__main__":
    main()
