"""How often do the rules of the tags agree with people, and what do they cost? The tables of docs/tags.md.

Precision and recall on tests/support/hand_tagged.tsv, on the half that the rules were tuned on and on the
one that was held out, with Wilson's 95 % intervals; then microseconds for a query text, over 200,000
distinct texts made of the Excite log's words, the corpus being Icecat's. With --dense also synonyms, on
Icecat alone: its 19,406 products are embedded the first time, some minutes on two cores; --folder keeps
that.

Usage: python -m benchmarks.bench_tags [--dense] [--folder DIR]
Smallest: python -m benchmarks.bench_tags
Needs: minutes
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from curation.sampling.tags.find_tags import tag_texts
from curation.sampling.tags.stored_tags import RULE_TAGS
from curation.text import normalise_query
from tests.support import ROOT, hand_tagged

SHARED = ROOT.parent / "shared" / "data"
TEXTS = 200_000


def made_up_texts() -> list[str]:
    """Distinct texts of one to four of the log's words."""
    found = sorted({word for text in hand_tagged.excite(SHARED) for word in normalise_query(text).split()})
    choose = random.Random(0)
    texts: set[str] = set()
    while len(texts) < TEXTS:
        texts.add(" ".join(choose.choices(found, k=choose.randint(1, 4))))
    return sorted(texts)


def cost(tag: str, texts: list[str], folder: Path) -> tuple[float, float]:
    """Seconds to read the corpus, if the tag needs it, and microseconds for a text after that."""
    store = hand_tagged.project("icecat", SHARED, folder)
    started = time.perf_counter()
    tag_texts(store, tag, [])
    read = time.perf_counter() - started
    started = time.perf_counter()
    tag_texts(store, tag, texts)
    return read, (time.perf_counter() - started) / len(texts) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"the shared data is not at {SHARED}")
    tags = [tag for tag in RULE_TAGS if asked.dense or tag != "synonym"]
    with tempfile.TemporaryDirectory() as name:
        folder = asked.folder or Path(name)
        print("\n".join(hand_tagged.table(hand_tagged.agreement(SHARED, folder, tags))))
        texts = made_up_texts()
        print("\n| tag | corpus read, s | µs a text |\n|---|---:|---:|")
        for tag in tags:
            if tag != "synonym":
                read, each = cost(tag, texts, folder)
                print(f"| {tag} | {read:.1f} | {each:.1f} |")


if __name__ == "__main__":
    main()
