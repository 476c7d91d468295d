"""Evaluate, what else can be asked: further questions about the runs, and the answers of systems.

Both are folded: who uploads a run and presses the button needs none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from app import ui
from app.views.evaluate.uploads import UploadedFile, choose_files
from curation.errors import CurationError
from curation.evaluation.answers.grading import GradedProject, neighbour_projects, releases_of
from curation.evaluation.comparison.deciding import CORRECTIONS, HOLM, TESTS, TUKEY
from curation.evaluation.submission import RunSubmission
from curation.store import Store

NONE = "None"
ALL = "All others"
CANDIDATES = 10
"""Down to which rank documents become candidates, unless another one is chosen."""


class ChosenPart(NamedTuple):
    """What is evaluated; `measures` are the default ones, by the first of which the leaderboard is.

    `scale` is ascending; `pool_sample` is whether the release records one.
    """

    release: str
    release_id: str
    part: str
    sealed: bool
    measures: tuple[str, ...]
    facets: tuple[str, ...]
    scale: tuple[int, ...]
    pool_sample: bool

    @property
    def key(self) -> str:
        return f"{self.release_id} {self.part}"


def ask_about_runs(
    chosen: ChosenPart, asked: RunSubmission, runs: Sequence[UploadedFile], is_lead: bool, key: str
) -> RunSubmission:
    """Baseline, reranking, hard negatives, documents that could turn the order, samples and candidates."""
    with st.expander("Further questions about the runs"):
        names = sorted({run.name for run in runs})
        baseline = st.selectbox(
            "Compare each system with",
            [ALL, *names],
            key=f"baseline {key} {names}",
            help="With all others every pair is compared. With one system each other one is compared with "
            "it: fewer tests, so smaller differences are found.",
        )
        if not chosen.sealed:
            asked = _deciding(chosen, asked)
        first = st.selectbox(
            "Reranking: the first stage",
            [NONE, *names],
            key=f"first stage {key} {names}",
            help="The run whose first 10, 50, 100 and 200 documents the other runs rerank. Upload it with "
            "them, and choose it here.",
        )
        hard = st.toggle(
            "Effect of hard negatives",
            key=f"hard negatives {chosen.key}",
            help="Each run on the judged documents alone, with the hard negatives among them and without.",
        )
        asked = asked._replace(
            baseline=None if baseline == ALL else baseline,
            first_stage=None if first == NONE else first,
            hard_negatives=hard,
        )
        if chosen.sealed:
            inferred = "" if chosen.pool_sample else ", and nothing is inferred from a sample of the pool"
            ui.quiet(
                f"{chosen.part} is sealed: no document is named that could turn the order of systems"
                f"{inferred}."
            )
        else:
            asked = _about_documents(chosen, asked)
        return _candidates(chosen, asked) if is_lead else asked


def _deciding(chosen: ChosenPart, asked: RunSubmission) -> RunSubmission:
    """Which test decides whether systems differ, and how it is corrected for all pairs."""
    test = st.selectbox(
        "Test that decides",
        list(TESTS),
        format_func=lambda name: _capital(TESTS[name].words),
        key=f"test {chosen.key}",
        help="The p of every test is shown. Which one decides is chosen before the figures are seen.",
    )
    if test == TUKEY:
        ui.quiet("It is of all pairs at once, and needs no correction.")
        return asked._replace(test=test)
    correction = st.selectbox(
        "Correction for all pairs",
        list(CORRECTIONS),
        format_func=lambda name: CORRECTIONS[name].words,
        key=f"correction {chosen.key}",
        help="With Holm's or Bonferroni's there is no false alarm in 95 % of evaluations. With Benjamini and "
        "Hochberg's some 5 % of what is found is false.",
    )
    return asked._replace(test=test, correction=None if correction == HOLM else correction)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _about_documents(chosen: ChosenPart, asked: RunSubmission) -> RunSubmission:
    turning = st.toggle(
        "Unjudged documents that could turn the order",
        key=f"turning {chosen.key}",
        help="For two systems or more, by the first measure.",
    )
    if chosen.pool_sample:
        ui.quiet("The release records a random sample of its pool, and AP and nDCG are inferred from it.")
        return asked._replace(turning=turning)
    sampled = st.toggle(
        "The judged pairs are a random sample of the pool",
        key=f"sample {chosen.key}",
        help="Average precision and nDCG are then inferred from it. A budget that takes the best ranked "
        "pairs is no random sample.",
    )
    if not sampled:
        return asked._replace(turning=turning)
    bands = st.multiselect(
        "Last ranks of the bands with equal chances",
        [10, 20, 50, 100],
        accept_new_options=True,
        key=f"bands {chosen.key}",
        help="None where all pairs of a query had the same chance. With 10 and 50 the bands are ranks 1 to "
        "10, 11 to 50, and below.",
    )
    return asked._replace(turning=turning, pool_sample=_ranks(bands))


def _ranks(bands: Sequence[int | str]) -> list[int]:
    """The ranks, ascending; what is no rank is 0, which is refused."""
    return sorted({int(band) if str(band).isdecimal() else 0 for band in bands})


def _candidates(chosen: ChosenPart, asked: RunSubmission) -> RunSubmission:
    wanted = st.toggle(
        "Make documents candidates for the next round",
        key=f"to pool {chosen.key}",
        help="The runs become runs of the project, and their first documents candidates.",
    )
    if not wanted:
        return asked
    depth = st.number_input("Documents of each query", 1, 1000, CANDIDATES, key=f"depth {chosen.key}")
    return asked._replace(to_pool=int(depth))


def ask_for_answers(
    store: Store, asked: RunSubmission, is_lead: bool, key: str
) -> tuple[RunSubmission, list[UploadedFile]]:
    """Files of answers, and for leads where people graded them."""
    with st.expander("Answers of the systems"):
        files = choose_files(
            "Files of answers",
            "Name of the answering system",
            key,
            "Rows of query, answer and contexts, as CSV, TSV or JSON lines. Exact match and F1 are with the "
            "reference answers of the release. Name the system as its run, and the report shows both "
            "together.",
        )
        if files and is_lead:
            asked = asked._replace(
                correctness=_graded(store, "Correctness", key),
                faithfulness=_graded(store, "Faithfulness", key),
            )
        elif files:
            ui.quiet("A lead can add what people graded: correctness and faithfulness.")
        return asked, files


def _graded(store: Store, what: str, key: str) -> GradedProject | None:
    """A project in this one's folder and its release, or None."""
    project = st.selectbox(
        f"{what}: the project in which people graded the answers",
        [NONE, *neighbour_projects(store)],
        key=f"{what} {key}",
        help="Projects in the folder of this one are offered.",
    )
    if project == NONE:
        return None
    try:
        releases = releases_of(store, project)
    except CurationError as error:
        ui.problem(error)
        return None
    if not releases:
        ui.quiet(f"{project} has no release yet.")
        return None
    return project, st.selectbox(f"{what}: its release", releases, key=f"{what} release {key} {project}")


def also_asked(asked: RunSubmission) -> str:
    """What else is asked for, below the button, so that nothing folded is forgotten."""
    also = asked.about_runs
    also += [f"relevant from grade {asked.relevant} on"] if asked.relevant is not None else []
    also += ["repeated documents left out"] if asked.skip_repeated else []
    return f"Also: {', '.join(also)}." if also else ""
