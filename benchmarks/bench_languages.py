"""Is a word found in every script? Search, marking, tie and certificate, by script, one table.

Each script has a query, a document that holds it, and a second document that differs from the first in one
word. `before` is how goldset cut texts until 2026: runs of letters, without marks. The second table measures
seconds for cutting 20,000 documents.

Usage: python -m benchmarks.bench_languages [documents, default 20000]
Smallest: python -m benchmarks.bench_languages 20
"""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from curation.presentation.excerpts import mark, query_stems
from curation.retrieval import Bm25
from curation.similarity.shingles import Shingles, jaccard, word_shingles
from curation.splits.certificate.certify import certify
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.store.rows import Document, Query
from curation.words import words

THRESHOLD = Rules().document or 0
DOCUMENTS = 20_000
_FORMER = re.compile(r"\w+")


class Sample(NamedTuple):
    """A query, a document that holds it, and a document that differs from that in one word."""

    script: str
    query: str
    document: str
    near_copy: str


SAMPLES = (
    ("English", "kettle", "This kettle boils one litre in three minutes and then stops by itself."),
    ("Chinese", "电热水壶", "这款电热水壶容量两升，三分钟烧开，自动断电，适合家庭使用。"),
    ("Japanese", "電気ケトル", "この電気ケトルは一リットルのお湯を三分で沸かし、自動で電源が切れます。"),
    ("Korean", "주전자", "이 전기주전자는 물 일 리터를 삼 분 만에 끓이고 자동으로 꺼집니다."),
    ("Thai", "กาต้มน้ำ", "นี่คือกาต้มน้ำไฟฟ้าที่ต้มน้ำหนึ่งลิตรในสามนาทีและตัดไฟเอง"),
    ("Hindi", "केतली", "यह केतली तीन मिनट में एक लीटर पानी उबालती है और फिर अपने आप बंद हो जाती है।"),
    ("Arabic", "غلاية", "هذه غَلّايَة تغلي لترا من الماء في ثلاث دقائق ثم تتوقف وحدها"),
    ("Turkish", "istanbul", "İSTANBUL için su ısıtıcısı üç dakikada bir litre su kaynatır ve durur."),
    ("Greek", "βραστήρασ", "Αυτός ο βραστήρας βράζει ένα λίτρο νερό σε τρία λεπτά και σταματά μόνος."),
    (
        "French, decomposed",
        "électrique",
        "Cette bouilloire électrique chauffe un litre en trois minutes et puis elle cesse seule.",
    ),
)
_VARIANTS = {
    "Chinese": ("红色", "蓝色"),
    "Japanese": ("赤い", "青い"),
    "Korean": ("빨간", "파란"),
    "Thai": ("สีแดง", "สีฟ้า"),
    "Hindi": ("लाल", "नीली"),
    "Arabic": ("حمراء", "زرقاء"),
    "Greek": ("κόκκινος", "μπλε"),
}
_OTHERS = tuple(f"another text number {number}" for number in range(5))


def samples() -> list[Sample]:
    """Each script with its documents; the French ones are decomposed, as some systems write file names."""
    found = []
    for script, query, text in SAMPLES:
        if "decomposed" in script:
            text = unicodedata.normalize("NFD", text)
        one, other = _VARIANTS.get(script, ("red", "blue"))
        found.append(Sample(script, query, f"{text} {one}", f"{text} {other}"))
    return found


def former_words(text: str) -> list[str]:
    """Words as older goldsets cut them."""
    return _FORMER.findall(unicodedata.normalize("NFKC", text).casefold())


def is_found(sample: Sample) -> bool:
    """Whether BM25 finds the document by the query."""
    texts = [sample.document, *_OTHERS]
    documents = [Document(f"d{number}", "", "", text) for number, text in enumerate(texts)]
    [hits] = Bm25(documents).search([Query("q", sample.query, sample.query, "written")], 1)
    return [hit.document_id for hit in hits] == ["d0"]


def is_marked(sample: Sample) -> bool:
    """Whether a word of the query is marked in the document."""
    return any(segment.marked for segment in mark(sample.document, query_stems(sample.query)))


def is_certified_as_leak(sample: Sample) -> bool:
    """Whether the certificate finds the near-copy across the parts."""
    relevant = {"q0": frozenset({"d0"}), "q1": frozenset({"d1"})}
    texts = {"d0": sample.document, "d1": sample.near_copy}
    inputs = SplitInputs({"q0": "one", "q1": "other"}, relevant, texts)
    rules = Rules(query=None, paraphrase=None, document=THRESHOLD)
    return bool(certify(inputs, {"q0": "dev", "q1": "test"}, rules).leaks)


def former_row(sample: Sample) -> tuple[bool, bool, float]:
    """Found, marked, and the similarity of the near-copy, as older goldsets had them."""
    asked, held = former_words(sample.query), set(former_words(sample.document))
    raw = {former_words(word)[0] for word in _FORMER.findall(sample.document)}
    similarity = jaccard(_shingles(former_words(sample.document)), _shingles(former_words(sample.near_copy)))
    return not held.isdisjoint(asked), not raw.isdisjoint(asked), similarity


def _shingles(found: list[str]) -> Shingles:
    return frozenset(" ".join(found[at : at + 3]) for at in range(max(1, len(found) - 2)))


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
    print("| script | search | marking | similarity of a near-copy | certificate |\n|---|---|---|---|---|")
    for sample in samples():
        found, marked, similarity = former_row(sample)
        now = jaccard(word_shingles(sample.document), word_shingles(sample.near_copy))
        leak = is_certified_as_leak(sample)
        print(
            f"| {sample.script} | {_yes(found)} → {_yes(is_found(sample))} "
            f"| {_yes(marked)} → {_yes(is_marked(sample))} | {similarity:.2f} → {now:.2f} "
            f"| {_yes(similarity >= THRESHOLD)} → {_yes(leak)} |"
        )
    print("\n| documents | before, s | now, s |\n|---|---|---|")
    for script in ("English", "French, decomposed", "Hindi", "Chinese"):
        text = next(sample.document for sample in samples() if sample.script == script)
        texts = [f"{text} {place}" for place in range(number)]
        print(f"| {script} | {_seconds(former_words, texts):.2f} | {_seconds(words, texts):.2f} |")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _seconds(cut: Callable[[str], list[str]], texts: list[str]) -> float:
    best = []
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            cut(text)
        best.append(time.perf_counter() - start)
    return min(best)


if __name__ == "__main__":
    main()
