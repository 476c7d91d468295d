"""What an attacker learns from looks at a sealed part: bits of twenty grades, by strategy.

The sealed part is half of CISI, looked at by the product's own functions. For twenty queries the attacker
wants to know whether one document is relevant; half are, so 20 bits are unknown. To be generous the attacker
knows everything else: a filler of real documents that are worth nothing for certain, and the rules by which
looks are answered. What is learned is counted, not guessed: all 2^20 combinations of grades that would have
given other answers are ruled out, and the bits are 20 less the logarithm of how many are left.

    digits       all figures of a run: success@1 to success@1000 each tell of another document
    random       the Ladder, with random halves of the documents first (the majority attack of Blum and Hardt)
    halves       the Ladder, from a run worth nothing on: the most even question of those tried at each look
    rare         the same, with questions to which yes is unlikely: a yes raises the figure to be beaten
    after BM25   as rare, where BM25's own run was looked at before

Usage: python -m benchmarks.look_attacker [looks]
Smallest: python -m benchmarks.look_attacker 1
Needs: ../shared/data
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from curation.errors import RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import EvaluationOptions
from curation.labeling.judgments.imported import add_judgments
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import opened
from curation.retrieval import Bm25
from curation.scoring.inputs.system_runs import RunSource
from curation.sources.corpus import import_corpus
from curation.sources.judgments import ImportedJudgment
from curation.sources.run_import import import_run
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, open_store
from curation.store.rows import Document, Query
from tests.support import ROOT
from tests.support.evaluated_project import write_run
from tests.support.gold_project import write_corpus
from tests.support.projects import add_names, new_project
from tests.support.smart import qrels, records

CISI = ROOT.parent / "shared" / "data" / "smart" / "cisi" / "CISI"
TARGETS = 20
TRIED = 60
SAMPLED = 2000
PLACES = {1: 1, 3: 2, 5: 4, 10: 6, 20: 11, 50: 21, 100: 51, 1000: 101}
"""Depth of a measure → the place at which it alone tells of a document."""
RARE = 0.1


class Attacked(NamedTuple):
    """A project with a sealed part, and what the attacker knows of it.

    Attributes
    ----------
    queries: of the part. targets: of the first twenty, the document whose grade is wanted.
    filler: query → real documents that are worth nothing, those that BM25 ranks first in front.
    truth: shape (20,).
    """

    store: Store
    folder: Path
    queries: list[str]
    targets: list[str]
    filler: dict[str, list[str]]
    bm25: dict[str, list[str]]
    relevant: dict[str, dict[str, int]]

    @property
    def truth(self) -> np.ndarray:
        pairs = zip(self.queries, self.targets, strict=False)
        return np.array([document in self.relevant[query] for query, document in pairs])


def attacked(folder: Path) -> Attacked:
    texts, relevant = records(CISI.with_suffix(".QRY")), qrels(CISI.with_suffix(".REL"))
    documents = [
        Document(name, name, "", text) for name, text in sorted(records(CISI.with_suffix(".ALL")).items())
    ]
    queries = [Query(name, texts[name], texts[name].lower(), "imported") for name in sorted(relevant)]
    store = new_project(folder / "project.duckdb")
    rows = [{"id": one.document_id, "title": "", "text": one.text} for one in documents]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    given = [
        ImportedJudgment(query, document, "ada", 3)
        for query, found in sorted(relevant.items())
        for document in sorted(found)
    ]
    add_judgments(store, given, "cisi.csv", queries)
    make_split(store, {"dev": 0.5, "test": 0.5}, 1, Rules(0.95, None, None, shared=False))
    freeze(store, "v1", override="a benchmark")
    add_names(store, "vera", role="evaluator")
    sealed = sorted(row["query_id"] for row in opened(store, "v1").rows("queries") if row["part"] == "test")
    hits = dict(zip((one.query_id for one in queries), Bm25(documents).search(queries, 1000), strict=True))
    found = {name: [hit.document_id for hit in hits[name]] for name in sealed}
    import_run(store, write_run(folder / "bm25.trec", {name: found[name][:10] for name in sealed}), "bm25")
    filler = {name: [one for one in found[name] if one not in relevant[name]] for name in sealed}
    targets = [
        next(one for one in found[name] if one in relevant[name]) if place % 2 else filler[name][0]
        for place, name in enumerate(sealed[:TARGETS])
    ]
    filler = {name: [one for one in lists if one not in targets] for name, lists in filler.items()}
    return Attacked(store, folder, sealed, targets, filler, found, relevant)


def written(of: Attacked, lists: dict[str, list[str]]) -> RunSource:
    return RunSource("attack", write_run(of.folder / "attack.trec", lists))


def digits(of: Attacked, looks: int, fakes: bool) -> tuple[int, float, str]:
    """Looks taken, bits learned, and what refused: eight documents a look, each seen by one more depth."""
    depths, taken, learned = list(PLACES), 0, 0
    options = EvaluationOptions("test", [f"success@{depth}" for depth in depths], by=())
    for first in range(0, TARGETS, len(depths)):
        lists = {
            name: [f"made-up-{number}-{taken}" for number in range(150)]
            if fakes
            else [*of.filler[name][taken : taken + 3], *of.filler[name][10 + taken * 20 : 150 + taken * 20]]
            for name in of.queries
        }
        asked = list(zip(range(first, min(first + len(depths), TARGETS)), depths, strict=False))
        for target, depth in asked:
            lists[of.queries[target]].insert(PLACES[depth] - 1, of.targets[target])
        if taken == looks:
            break
        try:
            found = evaluate_runs(of.store, "v1", [written(of, lists)], options, "attack")
        except RefusedError as error:
            return taken, learned, str(error).split(":")[0]
        taken += 1
        overall = found.runs[0].overall
        shown = [0.0, *(float(overall[f"success@{depth}"].value or 0) for depth in depths)]
        told = np.round(np.diff(shown) * len(of.queries)).astype(bool)
        for (target, _), label in zip(asked, told, strict=False):
            assert label == of.truth[target]
            learned += 1
    return taken, float(learned), ""


class Posterior:
    """The combinations of grades that would have given all answers so far."""

    def __init__(self, queries: int, step: float, seed: int) -> None:
        bits = np.arange(2**TARGETS, dtype=np.uint32)[:, None] >> np.arange(TARGETS, dtype=np.uint32)
        self.left = (bits & 1).astype(np.float32)
        self.queries, self.step = queries, step
        self.shown: float | None = None
        self.best, self.known = np.zeros(TARGETS, np.float32), np.zeros(queries, np.float32)
        self.random = np.random.default_rng(seed)

    def improves(self, chosen: np.ndarray, grades: np.ndarray) -> np.ndarray:
        """For each combination, whether a run with these targets first is better than the best shown."""
        mean = grades @ chosen / self.queries
        if self.shown is None:
            return np.ones(len(grades), bool)
        change = chosen - self.best
        total = grades @ change - self.known.sum()
        squares = grades @ (change**2 - 2 * change * self.known[:TARGETS]) + (self.known**2).sum()
        variance = np.maximum(squares - total**2 / self.queries, 0) / (self.queries - 1)
        return mean > self.shown + np.maximum(self.step, np.sqrt(variance / self.queries))

    def learn(self, chosen: np.ndarray, improved: bool, shown: float) -> None:
        fits = self.improves(chosen, self.left) == improved
        if improved:
            mean = self.left @ chosen / self.queries
            fits &= np.abs(np.minimum(1, np.round(mean / self.step) * self.step) - shown) < 0.002
            self.shown, self.best, self.known = round(shown / self.step) * self.step, chosen, self.known * 0
        self.left = self.left[fits]

    @property
    def bits(self) -> float:
        return TARGETS - float(np.log2(len(self.left)))

    def question(self, aim: float | None) -> np.ndarray:
        """Which targets are first: at random, or so that yes is as likely as `aim`, of those tried."""
        sizes = self.random.random(TRIED)
        tried = (self.random.random((TRIED, TARGETS)) < sizes[:, None]).astype(np.float32)
        if aim is None:
            return (self.random.random(TARGETS) < 0.5).astype(np.float32)
        if self.shown is None:  # a figure of 0 is the easiest to beat
            return np.zeros(TARGETS, np.float32)
        sample = self.left[self.random.integers(len(self.left), size=min(SAMPLED, len(self.left)))]
        yes = np.array([self.improves(one, sample).mean() for one in tried])
        off = np.where((yes > 0) & (yes < 1), np.abs(yes - aim), 2)
        return tried[int(np.argmin(off))]


def climbing(of: Attacked, looks: int, aim: float | None, bm25_first: bool) -> tuple[int, float, str]:
    """Looks taken, bits learned, and how many figures were shown with the bound."""
    from curation.looks.ladder import bits_of_answers, step_for
    from curation.looks.ladder_looks import ladder_looks

    from curation.scoring.inputs.release import read_release
    from curation.scoring.metrics.engine import score_run
    from curation.scoring.metrics.measures import measures_named

    measures = ["mrr@10"]
    queries, step = len(of.queries), step_for(len(of.queries))
    found, rungs = Posterior(queries, step, 5), 0
    shuffled = np.random.default_rng(7)
    for taken in range(looks):
        chosen = found.question(aim)
        if bm25_first and taken == 0:
            lists = {name: list(of.bm25[name][:10]) for name in of.queries}
        else:
            lists = {name: [*shuffled.permutation(of.filler[name][:9])] for name in of.queries}
            for place in np.flatnonzero(chosen).tolist():
                lists[of.queries[place]].insert(0, of.targets[place])
        answer = ladder_looks(
            of.store, "v1", [written(of, lists)], "test", measures, reason="attack", actor="vera"
        ).answers[0]
        rungs += answer.improved
        if bm25_first and taken == 0:  # to be generous, its values are known
            release = read_release(of.store, "v1", "test")
            run = {name: {one: -float(n) for n, one in enumerate(kept)} for name, kept in lists.items()}
            scores = score_run(run, release.qrels, measures_named(measures)).values[:, 0]
            assert list(release.qrels.query_ids) == of.queries
            found.known, found.shown = scores.astype(np.float32), round(answer.best / step) * step
            continue
        found.learn(chosen, answer.improved, answer.best)
        if len(found.left) == 1:
            return (
                taken + 1,
                found.bits,
                f"{rungs} figures, at most {bits_of_answers(taken + 1, step):.0f} bits",
            )
    return looks, found.bits, f"{rungs} figures, at most {bits_of_answers(looks, step):.0f} bits"


Strategy = Callable[[Attacked, int], tuple[int, float, str]]
STRATEGIES: dict[str, Strategy] = {
    "all figures, digits, made-up filler": lambda of, looks: digits(of, looks, fakes=True),
    "all figures, digits, real filler": lambda of, looks: digits(of, looks, fakes=False),
    "Ladder, random": lambda of, looks: climbing(of, looks, None, bm25_first=False),
    "Ladder, halves": lambda of, looks: climbing(of, looks, 0.5, bm25_first=False),
    "Ladder, rare": lambda of, looks: climbing(of, looks, RARE, bm25_first=False),
    "Ladder, rare after BM25": lambda of, looks: climbing(of, looks, RARE, bm25_first=True),
}


def learned(looks: int) -> Iterator[tuple[str, int, float, str]]:
    """Each strategy on a copy of the project: strategy, looks taken, bits learned, remark."""
    with TemporaryDirectory() as folder:
        first = attacked(Path(folder))
        first.store.close()
        for number, (name, strategy) in enumerate(STRATEGIES.items()):
            own = Path(folder) / str(number)
            own.mkdir()
            store = open_store(Path(shutil.copy(first.store.path, own)))
            yield name, *strategy(first._replace(store=store, folder=own), looks)
            store.close()


def main() -> None:
    if not CISI.parent.is_dir():
        sys.exit(f"the shared data is not at {CISI.parent.parent}")
    print(f"| look, strategy | looks | bits learned of {TARGETS} | remark |\n|---|---:|---:|---|")
    for name, taken, bits, remark in learned(int(sys.argv[1]) if sys.argv[1:] else 10):
        print(f"| {name} | {taken} | {bits:.1f} | {remark} |", flush=True)


if __name__ == "__main__":
    main()
