"""Unjudged documents of evaluated runs as candidates for the next round.

The runs become runs of the project, and a pool is made of their first documents, as `goldgrade import run`
and `goldgrade pool --systems run:NAME` do it. So every candidate keeps which run proposed it at which rank,
and pairs that are candidates already are not added again. The pool is of all queries of the run that the
project judges: documents are found for a whole gold set. Only the queries of sealed parts that were not
evaluated are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from curation.core.errors import refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.evaluation.request import RunQuestions
from curation.evaluation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.evaluation.scoring.inputs.system_runs import ReadingOptions, SystemRun, read_run, run_file
from curation.evaluation.scoring.metrics.qrels import UNJUDGED, rank
from curation.people.annotators import require_author
from curation.releases.verify import FrozenRelease
from curation.retrieval import RUN_PREFIX
from curation.store import COMMAND_LINE, Store

if TYPE_CHECKING:
    from curation.pooling.pool_report import PoolReport


@dataclass(frozen=True)
class PooledRuns:
    """Runs whose first documents became candidates.

    Attributes
    ----------
    unjudged, returned: name of the run → documents within the depth that the release has no grade for, and
        all documents within it, in the evaluated queries.
    pairs: such (query, document) pairs of all runs together.
    pool: as `goldgrade pool` reports it; its `added` are the new candidates.
    sealed: the sealed parts that were evaluated, whose queries are pooled as well.
    sealed_left_out: queries of sealed parts that were not evaluated; they are not pooled.
    """

    depth: int
    unjudged: Mapping[str, int]
    returned: Mapping[str, int]
    pairs: int
    pool: PoolReport
    sealed: tuple[str, ...]
    sealed_left_out: int


def pool_runs(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[RunSource],
    depth: int,
    *,
    split: str | None = None,
    reading: ReadingOptions = ReadingOptions(),
    seed: int = 0,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
) -> PooledRuns:
    """Make the first `depth` documents of the runs candidates, for each query that is not sealed apart.

    Parameters
    ----------
    split: whose unjudged documents are counted; as in `evaluate`.

    Raises
    ------
    InputError: the depth is below 1, a run's name cannot be used, or its file cannot be taken.
    RefusedError: the project has another run of that name, or the author is no lead.
    """
    from curation.ingest.importers.run_import import import_run
    from curation.pooling.pool import build_pool

    check_pooling(store, depth, author)
    release = read_release(store, release_name, split)
    named = _apart(sources)
    runs = {name: read_run(one, release, reading, progress) for name, one in named}
    found = {name: _top(run, release, depth) for name, run in runs.items()}
    for name, source in named:
        import_run(
            store,
            run_file(source.path, reading, progress),
            name,
            reading.fields,
            reading.layout,
            skip_unknown=True,
            skip_repeated=reading.skip_repeated or runs[name].chunks is not None,
            topics=reading.topics,
            progress=progress,
        )
    systems = [f"{RUN_PREFIX}{name}" for name, _ in named]
    apart = release.sealed_apart
    pool = build_pool(store, systems, depth, 0, seed, progress=progress, author=author, without=apart)
    return PooledRuns(
        depth,
        {name: len(top.unjudged) for name, top in found.items()},
        {name: top.returned for name, top in found.items()},
        len(set().union(*(top.unjudged for top in found.values()))),
        pool,
        release.sealed,
        len(apart),
    )


def check_pooling(store: Store, depth: int, author: str = COMMAND_LINE) -> None:
    """Stop where `pool_runs` would, before a sealed grade is read.

    Raises
    ------
    InputError: the depth is below 1.
    RefusedError: the author is no lead.
    """
    refuse_problems(out_of_bounds(RunQuestions, {"to_pool": depth}))
    with store.reading() as cursor:
        require_author(cursor, author, "lead")


def _apart(sources: Sequence[RunSource]) -> list[tuple[str, RunSource]]:
    """The runs under a name each: several of one system are numbered."""
    times = Counter(source.name for source in sources)
    number: Counter[str] = Counter()
    named = []
    for source in sources:
        number[source.name] += 1
        alone = times[source.name] == 1
        named.append((source.name if alone else f"{source.name}-{number[source.name]}", source))
    return named


class _Top(NamedTuple):
    """A run's documents within a depth: how many, and the (query id, document id) pairs without a grade."""

    returned: int
    unjudged: set[tuple[str, str]]


def _top(run: SystemRun, release: EvaluatedRelease, depth: int) -> _Top:
    ranking = rank(run.rows, release.qrels)
    inside = ranking.rank <= depth
    places = ((ranking.grade == UNJUDGED) & inside).nonzero()[0]
    documents = run.rows.documents.take(ranking.order[places])
    queries = (release.qrels.query_ids[query] for query in ranking.query[places].tolist())
    return _Top(int(inside.sum()), set(zip(queries, documents.to_pylist(), strict=True)))
