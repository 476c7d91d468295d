"""What an evaluation is asked for, and what is refused of that before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curation.core.errors import InputError, refuse_problems
from curation.core.operation import Seed, option
from curation.evaluation.significance import RANDOMISATION, TESTS

RunFiles = tuple[tuple[str, str], ...]
"""Name of the system, and path of its file."""


@dataclass(frozen=True)
class RunQuestions:
    """What is asked about runs besides their figures; see `EvaluationOptions` and its comparison.

    Attributes
    ----------
    wanted: the difference whose number of queries is estimated.
    test: that decides, of `significance.TESTS`.
    judge: whose grades estimate the figures on more queries. to_pool: for leads.
    """

    baseline: str | None = option(
        None,
        "Compare each system with",
        "Compare each system with this one alone. It is the NAME of a run, or on the command line a "
        "further file, also NAME=FILE. Fewer tests find smaller differences.",
        unset="all others",
    )
    wanted: float = option(
        0.02,
        "Difference that matters",
        "Difference that matters. How many queries find it is estimated.",
        flag="--difference",
    )
    test: str = option(
        RANDOMISATION,
        "Test that decides",
        "The test that decides whether systems differ. One of randomisation, t, or wilcoxon. All are "
        "shown. Choose it before the figures are seen.",
        flag="--significance-test",
        choices=tuple(TESTS),
        words={name: one.words for name, one in TESTS.items()},
    )
    first_stage: str | None = option(
        None,
        "Reranking: the first stage",
        "The run (its NAME) whose first documents are reranked. The figures are of its first 10, 50, 100 "
        "and 200, which the other runs rerank.",
        unset="no figures of reranking",
    )
    judge: str | None = option(
        None,
        "Judge",
        "Also estimate figures on all queries that a judge graded. People's grades of the evaluated "
        "queries correct those of this judge. Of answers it is the scores of nuggets, by a judge of the "
        "project in which people graded support.",
        unset="none",
    )
    hard_negatives: bool = option(
        False,
        "Effect of hard negatives",
        "Also on judged documents alone. Once with the hard negatives among them and once without.",
    )
    to_pool: int | None = option(
        None,
        "Make documents candidates for the next round, down to rank",
        "Make the runs' first documents candidates. They are for the next round, down to this rank. The "
        "runs become runs of the project.",
        unset="the project stays as it is",
        least=1,
    )
    subtopics: Path | None = option(
        None,
        "Subtopics",
        "TREC's diversity qrels, for alpha_ndcg@k. Lines of topic, subtopic, document and grade.",
        unset="none",
    )


@dataclass(frozen=True)
class AnswerQuestions:
    """Where people graded the answers: the file of a project, and its release."""

    correctness: str | None = option(
        None,
        "Correctness",
        "PROJECT=RELEASE in which people graded correctness. `answers to-grade` makes such a project.",
        unset="none",
    )
    faithfulness: str | None = option(
        None, "Faithfulness", "PROJECT=RELEASE in which people graded faithfulness.", unset="none"
    )
    support: str | None = option(
        None, "Support", "PROJECT=RELEASE in which people graded support of nuggets.", unset="none"
    )


@dataclass(frozen=True)
class EvaluateRequest:
    """An evaluation of runs, of answers, or of both on parts of a release.

    Attributes
    ----------
    part: a part or 'all'. measures: None are the default ones; the first is the headline. by: facets.
    reason: why a sealed part is evaluated.
    folder: of the files, where a job has to remove it.
    """

    release: str = ""
    part: str | None = option(
        None, "Part", "A part of the release, or all.", unset="all parts that are not sealed"
    )
    measures: Sequence[str] | None = option(
        None,
        "Measures",
        "Names of measures, separated by commas. ndcg_exp@k, ndcg@k, mrr@k, map, recall@k, success@k, "
        "precision@k, rprec, bpref, rbp(0.8), judged@k; also ndcg_exp, ndcg, mrr, map@k, gmap, err@k, "
        "rbp_graded(0.8), iprec@0.1, alpha_ndcg@k, set_precision, set_recall, set_f1, num_ret, num_rel, "
        "num_rel_ret. Of chunks: evidence_within@w, context_words@k, evidence_NAME@k with recall, "
        "precision, iou, hit, mrr or ndcg. Names of trec_eval and ir-measures are understood. The first "
        "one is the headline.",
        commas=True,
        others=True,
        unset="those before the semicolon, at depth 10",
    )
    by: Sequence[str] = option(
        ("stratum",),
        "Kinds of queries",
        "Also broken down by these facets, with commas. type (stratum and tag), stratum, band, segment, "
        "tag, source, part; with a coverage map in the release also cluster, grid.",
        flag="--breakdown",
        commas=True,
    )
    reason: str | None = option(
        None,
        "Why you evaluate on a sealed part",
        "Why a sealed part is evaluated. It is logged with name and time.",
        unset="refuse",
    )
    relevant: int | None = option(
        None,
        "Relevant from grade",
        "Lowest grade of a relevant document. It is for measures that know only relevant and not.",
        flag="--relevant-grade",
        unset="every grade above the lowest",
    )
    skip_repeated: bool = option(
        False,
        "Leave out repeated documents",
        "Keep the best rank of a document that is repeated. It is of one query. The others are counted. "
        "Without this such a run is refused.",
    )
    topics: Path | None = option(
        None,
        "Topics: a table of id and text",
        "A table of id and text for runs with ids of their own. It says by the text which query of the "
        "release each id of a run file is. CSV, TSV, JSON lines or TREC's topics.",
        unset="the runs have the release's ids or texts",
    )
    seed: Seed = 0
    of_runs: RunQuestions = field(default_factory=RunQuestions)
    of_answers: AnswerQuestions = field(default_factory=AnswerQuestions)
    runs: RunFiles = ()
    answers: RunFiles = ()
    folder: str = ""
    chunk_map: Path | None = option(
        None,
        "Map of chunks",
        "The places of an index's chunks, for runs of their ids. It is the file that the chunks of the "
        "index were mapped to.",
        unset="the runs have documents, or chunks with their places or texts",
    )


def run_problems(systems: Sequence[str], first_stage: str | None) -> list[str]:
    """What runs are missing for reranking.

    Parameters
    ----------
    systems: the name of the system of each run.
    """
    problems = []
    known, times = sorted(set(systems)), systems.count(first_stage or "")
    if first_stage is not None and times != 1:
        what = "several runs have that name" if times else "no run has that name"
        problems.append(
            f"The first stage {first_stage}: {what}; expected one of {', '.join(known)}, with one run."
        )
    elif first_stage is not None and len(known) < 2:
        problems.append(f"The first stage {first_stage}: there is no other run that reranks its candidates.")
    return problems


def refuse_unfitting(
    *,
    runs: bool,
    answers: bool,
    about_runs: Sequence[str],
    about_answers: Sequence[str],
) -> None:
    """Stop where something is asked that no file was named for.

    Parameters
    ----------
    runs, answers: whether any were named.
    about_runs, about_answers: what is asked about runs and about answers, as the person who asks calls it.

    Raises
    ------
    InputError: with all of it.
    """
    if not runs and not answers:
        raise InputError("There is no file to evaluate: name at least one run, or one file of answers.")
    problems = [f"{what} is about runs, and there is none" for what in about_runs if not runs]
    problems += [f"{what} is about answers, and there are none" for what in about_answers if not answers]
    refuse_problems(problems, way_out="Name the files with it.")
