"""How often do the rules of the tags agree with people, and what do they cost? The tables of docs/tags.md.

Precision and recall on tests/support/hand_tagged.tsv, on the half that the rules were tuned on and on the
one that was held out, with Wilson's 95 % intervals; then microseconds for a query text, over 200,000
distinct texts made of the Excite log's words.

Usage: python -m benchmarks.bench_tags
Smallest: python -m benchmarks.bench_tags
Needs: ../shared/data
"""

from __future__ import annotations

import random
import sys
import time

from curation.core.characters import normalise_query
from curation.queries.tag_rules import RULES
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


def main() -> None:
    if not SHARED.is_dir():
        sys.exit(f"the shared data is not at {SHARED}")
    print("\n".join(hand_tagged.table(hand_tagged.agreement(SHARED))))
    texts = made_up_texts()
    print("\n| tag | µs a text |\n|---|---:|")
    for tag, rule in RULES.items():
        started = time.perf_counter()
        for text in texts:
            rule(text)
        print(f"| {tag} | {(time.perf_counter() - started) / len(texts) * 1e6:.1f} |")


if __name__ == "__main__":
    main()
