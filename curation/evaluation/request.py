"""The request for an evaluation, with the options of the command and the page Evaluate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.errors import refuse_problems
from curation.core.request import Seed, option
from curation.evaluation.figures.comparison import RANDOMISATION, TESTS

RunFiles = tuple[tuple[str, str], ...]
"""Name of each system with the path of its file."""
ABOUT_RUNS = ("baseline", "test", "judge", "hard_negatives", "to_pool")
"""Fields of a request that need runs."""
ABOUT_ANSWERS = ("correctness", "faithfulness", "support")
"""Fields of a request that need answers."""


def grade_option(label: str, graded: str) -> Any:
    """Make the option that names the project in which people graded answers for one property, such as
    correctness."""
    text = f"PROJECT=RELEASE in which people graded {graded}."
    return option(None, label, text, flag=" ".join(("--graded", label.lower())), unset="none")


@dataclass(frozen=True)
class EvaluateRequest:
    """A request to evaluate runs, answers, or both on parts of a release.

    Attributes
    ----------
    part: a part or 'all'; None is all parts that are not sealed.
    measures: the names of measures, the headline first; None is the default measures.
    by: the facets by which figures are broken down.
    reason: the reason for evaluating a sealed part; the evaluation is logged before its figures are returned.
    relevant: the lowest grade of a relevant document; None is every grade above the lowest.
    test: the test that decides, of `comparison.TESTS`.
    judge: the judge whose grades estimate figures on more queries.
    to_pool: the number of first documents that become candidates; leads alone may set it.
    correctness, faithfulness, support: the file of a project in which people graded answers, and its release.
    columns: for the file of each run, the columns that a person chose: field → column.
    folder: the folder of uploaded files, which a job removes.
    """

    release: str = ""
    part: str | None = option(
        None, "Part", "A part of the release, or all.", unset="all parts that are not sealed"
    )
    measures: Sequence[str] | None = option(
        None,
        "Measures",
        "Names of measures, separated by commas. ndcg_exp@k, ndcg@k, mrr@k, map, recall@k, success@k, "
        "precision@k, rprec, bpref, rbp(0.8), judged@k; also ndcg_exp, ndcg, mrr, map@k, err@k, "
        "rbp_graded(0.8), set_precision, set_recall, set_f1. For chunks: evidence_within@w, "
        "context_words@k, evidence_NAME@k with recall, precision, iou, hit, mrr or ndcg. Names from "
        "trec_eval and ir-measures also work. The first measure is the headline.",
        is_comma_separated=True,
        accepts_others=True,
        unset="the measures before the semicolon, at depth 10",
    )
    by: Sequence[str] = option(
        ("stratum",),
        "Facets of the breakdown",
        "Figures are also broken down by facets, separated by commas. type (stratum and tag), stratum, "
        "band, segment, tag, source, part; with a coverage map in the release also cluster, grid; with a "
        "comparison with training data also contamination.",
        flag="--breakdown",
        is_comma_separated=True,
    )
    reason: str | None = option(
        None,
        "Reason for evaluating a sealed part",
        "Reason for evaluating a sealed part. The log keeps the reason, your name and the time.",
        unset="refuse",
    )
    relevant: int | None = option(
        None,
        "Lowest grade of a relevant document",
        "Lowest grade of a relevant document. It matters only for binary measures, such as recall.",
        flag="--relevant-grade",
        unset="every grade above the lowest",
    )
    skip_repeated: bool = option(
        False,
        "Leave out repeated documents",
        "Keep the best rank of a document that is repeated. Without this option, the command "
        "refuses a run with repeated documents.",
    )
    topics: Path | None = option(
        None,
        "Table of query ids and texts",
        "Table of ids and texts for runs with different query ids. CSV, TSV, JSON lines or TREC's topics. "
        "With qrels, the table gives the queries' texts, strata and other columns.",
        unset="the runs have the release's ids or texts",
    )
    seed: Seed = 0
    baseline: str | None = option(
        None,
        "Compare each system with",
        "Compare each system only with this run, given by NAME. The baseline may also be the file of "
        "another run.",
        unset="all others",
    )
    synthetic: bool = option(
        False,
        "Synthetic queries only",
        "Evaluate only the queries that a language model wrote. By default, if a release also has other "
        "queries, only those are evaluated: no figure averages both kinds.",
    )
    test: str = option(
        RANDOMISATION,
        "Significance test",
        "The test that decides whether a difference is significant. Choose randomisation, t or wilcoxon.",
        flag="--significance-test",
        choices=tuple(TESTS),
        words=TESTS,
    )
    judge: str | None = option(
        None,
        "Judge",
        "Also estimate figures on all queries that a judge graded. Human grades correct the judge's grades.",
        unset="none",
    )
    hard_negatives: bool = option(
        False,
        "Effect of hard negatives",
        "Also score lists of judged documents only. The report shows scores with and without hard negatives.",
    )
    to_pool: int | None = option(
        None,
        "Add documents as candidates for the next round, down to rank",
        "Add the runs' documents down to this rank as candidates. People can judge these candidates in the "
        "next round. The project stores the runs.",
        unset="no new candidates",
        minimum=1,
    )
    correctness: str | None = grade_option("Correctness", "correctness. `answers to-grade` makes the project")
    faithfulness: str | None = grade_option("Faithfulness", "faithfulness")
    support: str | None = grade_option("Support", "support of nuggets")
    systems: Sequence[str] = option(
        (),
        "Systems of the project",
        "bm25, dense and hybrid search the documents of the release. run:NAME is an imported run, "
        "engine:NAME a search engine.",
        unset="none",
    )
    runs: RunFiles = ()
    columns: tuple[dict[str, Any], ...] = ()
    answers: RunFiles = ()
    folder: str = ""
    chunk_map: Path | None = option(
        None,
        "Map of chunks",
        "Table of an index's chunks that a splitter wrote. Runs with chunk ids need this table. The columns "
        "are chunk_id, document_id, and start and end or chunk_text.",
        flag="--splitter",
        unset="the runs have documents, or chunks with their positions or texts",
    )


def check_request(request: EvaluateRequest) -> None:
    """Raise an InputError for a request that must fail before any file is read."""
    counts = Counter(name for name, _ in request.answers)
    refuse_problems(
        [
            f"Two answer files are named {name}. Give the files different names."
            for name, n in counts.items()
            if n > 1
        ]
    )
