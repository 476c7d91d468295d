"""Do estimates from a sample of the pool hold the value of full judgments? For docs/evaluation-method.md.

Collections that were judged in full: CISI and MEDLINE, pooled from two BM25s to depth 100, and Touché 2020,
whose pool is what was judged, by the best rank of the four published runs. Samples are drawn as `goldset pool
--sample-bands` draws them, and estimated as `goldset evaluate` estimates. Each set of queries is drawn again
from the collection's, with replacement, so that the truth is the mean over the collection, as the intervals
mean it; `bias` and `error` are of the same queries, judged in full.

Usage: python -m benchmarks.coverage_pool_samples [sets] [draws of each sample] [names]
Smallest: python -m benchmarks.coverage_pool_samples 1 2 touche
Needs: ../shared/data
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.steps import shared_data
from curation.evaluation.figures.inferred import MEASURES, _values, recorded_strata
from curation.pooling.candidates import CandidateSource
from curation.pooling.pool_sample import draw_sample, read_design
from curation.retrieval import Bm25
from curation.scoring.inputs.pooled import recorded_sample
from curation.scoring.metrics.engine import score_rows
from curation.scoring.metrics.measures import measures_for
from curation.scoring.metrics.qrels import qrels_from, run_rows
from curation.statistics.intervals import wilson
from curation.statistics.means import mean_intervals
from curation.store.rows import Document, Query
from tests.support.smart import qrels as smart_qrels
from tests.support.smart import records

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
DRAWS = 60
"""Samples of each query's pool."""

Lists = Mapping[str, Sequence[str]]
Grades = dict[str, dict[str, int]]


class Collection(NamedTuple):
    """Systems' lists by query, the pool with ranks, and every pooled document's grade."""

    lists: Mapping[str, Lists]
    ranks: Mapping[str, Mapping[str, int]]
    grades: Grades


def smart(name: str) -> Collection:
    folder = SHARED / "smart" / name
    documents = [
        Document(one, one, "", text) for one, text in records(folder / f"{name.upper()}.ALL").items()
    ]
    judged = smart_qrels(folder / f"{name.upper()}.REL")
    asked = [
        Query(one, text, text, "imported")
        for one, text in records(folder / f"{name.upper()}.QRY").items()
        if one in judged
    ]
    lists = {}
    for system, stemmer in (("bm25", None), ("bm25, stemmed", "english")):
        hits = Bm25(documents, stemmer=stemmer).search(asked, 100)
        lists[system] = {
            query.query_id: [hit.document_id for hit in found]
            for query, found in zip(asked, hits, strict=True)
        }
    return pooled(lists, {query.query_id: judged[query.query_id] for query in asked}, None)


def touche() -> Collection:
    """v2 of the collection; what nobody judged is left out of the runs, so that all is judged."""
    folder = SHARED / "touche2020"
    judged: Grades = {}
    for line in (folder / "qrels.beir-v1.0.0-webis-touche2020.test.txt").read_text().splitlines():
        query, _, name, grade = line.split()
        judged.setdefault(query, {})[name] = max(int(grade), 0)
    lists: dict[str, dict[str, list[str]]] = {}
    for path in sorted((folder / "runs" / "webis-touche2020").iterdir()):
        opened = gzip.open if path.suffix == ".gz" else open
        found: dict[str, list[tuple[int, str]]] = {}
        with opened(path, "rt") as lines:
            for line in lines:
                query, _, name, rank, *_ = line.split()
                if name in judged.get(query, {}):
                    found.setdefault(query, []).append((int(rank), name))
        lists[path.name.split(".")[2] if path.name.count(".") > 3 else path.stem] = {
            query: [name for _, name in sorted(ranked)] for query, ranked in found.items()
        }
    return pooled(lists, judged, judged)


def pooled(lists: Mapping[str, Lists], judged: Grades, whole: Grades | None) -> Collection:
    """The pool is the union of the lists; with `whole` also what no list has, below them."""
    ranks: dict[str, dict[str, int]] = {}
    for query in judged:
        own: dict[str, int] = {}
        for found in lists.values():
            for rank, name in enumerate(found.get(query, ()), 1):
                own[name] = min(rank, own.get(name, rank))
        for name in sorted(whole[query]) if whole else ():
            own.setdefault(name, max(own.values(), default=0) + 1)
        if own:
            ranks[query] = own
    grades = {query: {name: judged[query].get(name, 0) for name in own} for query, own in ranks.items()}
    return Collection(lists, ranks, grades)


def with_relevant(given: Collection, least: int) -> Collection:
    """The queries with so many relevant documents in their pool."""
    kept = {query for query, own in given.grades.items() if sum(map(bool, own.values())) >= least}
    return given._replace(
        ranks={query: own for query, own in given.ranks.items() if query in kept},
        grades={query: own for query, own in given.grades.items() if query in kept},
    )


def estimates(given: Collection, bands: str, system: str, draws: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Shape (Q, M) of full judgments, (DRAWS, Q, M) of samples, and the share of pairs that is judged."""
    depth = int(bands.rsplit(",", 1)[-1].split(":")[0])
    design = read_design(bands, None, depth)
    assert design is not None
    proposals = [
        CandidateSource(query, name, "a", min(rank, depth), 1.0)
        for query, own in given.ranks.items()
        for name, rank in own.items()
    ]
    lists = {
        query: {one: -float(n) for n, one in enumerate(given.lists[system].get(query, ()))}
        for query in given.ranks
    }
    everything = qrels_from(given.grades)
    measures = measures_for(everything.scale, list(MEASURES.values()))
    truth = score_rows(run_rows(lists, everything), everything, measures).values
    pools = [{"pool_id": "p", "parameters": {"sample": design.parameters}}]
    names = {name for own in given.ranks.values() for name in own}
    found, shares = [], []
    for seed in range(draws):
        pairs = draw_sample(proposals, design, seed).pairs
        rows: dict[tuple[str, int], dict] = {}
        for pair in pairs:
            row = rows.setdefault(
                (pair.query_id, pair.band),
                {"pool_id": "p", "query_id": pair.query_id, "band": pair.band, "drawn": [], "not_drawn": []}
                | {"inclusion_probability": pair.inclusion_probability},
            )
            row["drawn" if pair.sampled else "not_drawn"].append(pair.document_id)
        judged: Grades = {query: {} for query in given.ranks}
        for pair in pairs:
            if pair.sampled:
                judged[pair.query_id][pair.document_id] = given.grades[pair.query_id][pair.document_id]
        qrels = qrels_from(judged)
        sample = recorded_sample(rows.values(), [], pools, set(judged), names)
        assert sample is not None
        assert qrels.query_ids == everything.query_ids
        found.append(_values(run_rows(lists, qrels), qrels, recorded_strata(qrels, sample).of_query))
        shares.append(np.mean([pair.sampled for pair in pairs]))
    return truth, np.array(found), float(np.mean(shares))


def report(name: str, given: Collection, bands: str, sets: int, draws: int) -> None:
    for system in given.lists:
        truth, found, share = estimates(given, bands, system, draws)
        queries, random = len(truth), np.random.default_rng(0)
        chosen = random.integers(queries, size=(queries, sets))
        seeds = random.integers(draws, size=(queries, sets))
        for place, measure in enumerate(MEASURES):
            values = found[seeds, chosen, place]
            highest = np.full(sets, max(1.0, np.nanmax(values)))
            low, high = mean_intervals(values, highest)
            true = np.nanmean(truth[:, place])
            held = int(((low <= true) & (true <= high)).sum())
            ends = wilson(held, sets)
            means = np.nanmean(found[:, :, place], axis=1)
            lost = np.isnan(found[:, :, place]).mean() - np.isnan(truth[:, place]).mean()
            cells = [name, bands, f"{share:.0%}", system, measure, f"{true:.3f}"]
            cells += [f"{means.mean() - true:+.3f}", f"{means.std():.3f}", f"{lost:.1%}"]
            cells += [f"{held / sets:.1%}", f"{ends[0]:.1%} to {ends[1]:.1%}", f"{np.mean(high - low):.3f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    shared_data()
    sets = int(sys.argv[1]) if sys.argv[1:] else 2_000
    draws = int(sys.argv[2]) if sys.argv[2:] else DRAWS
    columns = ("set", "bands", "judged", "system", "measure", "full", "bias", "error", "lost", "held")
    print(f"| {' | '.join((*columns, '95 % of that', 'width'))} |")
    print("|---|---|---:|---|---|---:|---:|---:|---:|---:|---|---:|")
    for name in sys.argv[3:] or ("cisi", "med", "touche"):
        if name == "cisi":
            cisi = smart(name)
            report("CISI", cisi, "10:1,30:0.5,100:0.2", sets, draws)
            report("CISI, 20 relevant or more", with_relevant(cisi, 20), "10:1,30:0.5,100:0.2", sets, draws)
        elif name == "med":
            report("MEDLINE", smart(name), "10:1,30:0.5,100:0.2", sets, draws)
        else:
            report("Touché 2020", touche(), "5:1,10:0.5,1000:0.3", sets, draws)


if __name__ == "__main__":
    main()
