"""Does any document cost more than its length? Hostile texts, drawn in each way, and read by other ways.

Each text is made at two sizes, the larger four times the smaller, and each way's worst ratio of the two times
is printed with the text that has it: 4 is in proportion to the length, 16 is its square.

Usage: python -m benchmarks.bench_hostile [--size CHARACTERS] [--texts N]
Smallest: python -m benchmarks.bench_hostile --size 2000 --texts 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from curation.guides.guide import PresentationTemplate
from curation.presentation.drawing import ReadDocument, draw
from curation.scoring.splitters import splitters_named
from curation.similarity.quotes import find_again, places_of
from curation.sources.redaction.personal_data import redact
from curation.words import word_starts, words
from tests.support.hostile import KINDS, TEXTS

LEAST = 0.05
"""Seconds below which a ratio says nothing."""


def drawn(kind: str, text: str) -> object:
    """The whole document, its sentences to be marked."""
    template = PresentationTemplate.model_validate({"body": kind})
    return draw(ReadDocument("", text, None, None, "{}"), "red 日本", template, longest=None, markable=True)


def chunks(text: str) -> object:
    return [splitter.split(text) for splitter in splitters_named(["200/50", "sentence", "heading"])]


WAYS: dict[str, Callable[[str], object]] = {
    **{f"drawn as {kind}": partial(drawn, kind) for kind in KINDS},
    "words": words,
    "word starts": word_starts,
    "chunks": chunks,
    "quotation": lambda text: places_of(text[: len(text) // 2], text),
    "quotation, white space": lambda text: places_of(" ".join(text[: len(text) // 2].split()), text),
    "quotation, changed": lambda text: find_again(f"{text[:2000]} changed", text, 5),
    "personal data": redact,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--texts", type=int, default=len(TEXTS))
    asked = parser.parse_args()
    chosen = dict(list(TEXTS.items())[: asked.texts])
    print(f"{len(chosen)} texts of {asked.size:,} characters")
    for way, read in WAYS.items():
        read("first")
        times = {name: seconds(read, text.of(asked.size)) for name, text in chosen.items()}
        slowest = max(times, key=times.__getitem__)
        ratios = {
            name: taken / max(seconds(read, chosen[name].of(asked.size // 4)), LEAST / 4)
            for name, taken in times.items()
            if taken >= LEAST
        }
        worst = max(ratios, key=ratios.__getitem__, default="")
        said = f"worst ratio {ratios[worst]:.1f} ({worst})" if worst else "none takes long enough for a ratio"
        print(f"{way}: slowest {times[slowest]:.2f} s ({slowest}), {said}", flush=True)


if __name__ == "__main__":
    main()
