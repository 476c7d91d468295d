"""The pooling of evaluated runs, which makes their first documents candidates.

The runs are stored in the project. `goldgrade import run` and `goldgrade pool --systems run:NAME` do the
same. The pool covers all queries of the run that the project judges, without the queries of sealed parts that
were not evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from curation.evaluation.prepare_evaluation import PreparedEvaluation, check_pooling
from curation.evaluation.scoring.rankings import UNJUDGED, rank
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import SystemRun, open_run_file, read_run
from curation.pooling.request import PoolRequest
from curation.retrieval import RUN_PREFIX

if TYPE_CHECKING:
    from curation.pooling.pool_report import PoolReport


class PooledRuns(NamedTuple):
    """The outcome of adding runs' first documents to the pool.

    Attributes
    ----------
    unjudged: the number of pairs without a grade down to the depth, on the evaluated parts.
    left_out: the number of queries of sealed parts that were not evaluated, which get no candidates.
    """

    pool: PoolReport
    unjudged: int
    left_out: int


def pool_runs(prepared: PreparedEvaluation, sources: Sequence[SystemFile]) -> PooledRuns:
    """Make each run's first documents candidates, except for queries in sealed parts that were not evaluated.

    Parameters
    ----------
    prepared: its request has the number of documents of each run (`to_pool`), and the part whose unjudged
        documents are counted.

    Raises
    ------
    InputError: the depth is below 1, a run's name cannot be used, or its file cannot be read.
    RefusedError: the project has a different run of that name, or the author is not a lead.
    """
    from curation.ingest.importers.run_import import import_run
    from curation.pooling.pool import build_pool

    store, request, author = prepared.store, prepared.request, prepared.author
    reading, progress, depth = prepared.reading, prepared.progress, request.to_pool or 0
    check_pooling(store, depth, author)
    release = read_release(store, prepared.release, request.part)
    named_sources = _number_names(sources)
    runs = {name: read_run(source, release, reading, progress) for name, source in named_sources}
    unjudged = set().union(*(_find_unjudged_pairs(run, release, depth) for run in runs.values()))
    for name, source in named_sources:
        file = open_run_file(source, reading, progress)
        import_run(
            *(store, file, name, source.fields or reading.fields, reading.layout),
            skip_unknown=True,
            skip_repeated=reading.skip_repeated or runs[name].chunks is not None,
            topics=reading.topics,
            progress=progress,
        )
    systems = [f"{RUN_PREFIX}{name}" for name, _ in named_sources]
    pool_request = PoolRequest(systems, depth, 0, request.seed, judged_queries=True)
    pool = build_pool(store, pool_request, progress=progress, author=author, without=release.sealed_apart)
    return PooledRuns(pool, len(unjudged), len(release.sealed_apart))


def _number_names(sources: Sequence[SystemFile]) -> list[tuple[str, SystemFile]]:
    """Give each run a unique name, numbering a system's runs."""
    totals = Counter(source.name for source in sources)
    counts: Counter[str] = Counter()
    named_sources = []
    for source in sources:
        name = source.name
        counts[name] += 1
        named_sources.append((name if totals[name] == 1 else f"{name}-{counts[name]}", source))
    return named_sources


def _find_unjudged_pairs(run: SystemRun, release: EvaluatedRelease, depth: int) -> set[tuple[str, str]]:
    """Find the (query id, document id) pairs in a run, down to a depth, that have no grade."""
    ranking = rank(run.rows, release.qrels)
    indexes = ((ranking.grade == UNJUDGED) & (ranking.rank <= depth)).nonzero()[0]
    documents = run.rows.documents.take(ranking.order[indexes])
    queries = (release.qrels.query_ids[query] for query in ranking.query[indexes].tolist())
    return set(zip(queries, documents.to_pylist(), strict=True))
