"""What a job can be: its function of `curation`, called with parameters that are stored as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from curation.jobs import releasing
from curation.people.annotators import EVALUATING
from curation.progress import Progress
from curation.step import Step
from curation.steps import NAMES, step_of
from curation.store import Store
from curation.text import amount

Parameters = Mapping[str, Any]


MODULES = (
    "curation.steps.sampling",
    "curation.steps.pooling",
    "curation.releases.freeze.freeze",
    "curation.jobs.imports",
    "pandas",  # which pyarrow imports when it first makes an array
)
"""What jobs import and takes long: a process that waits for a job imports it meanwhile (200 MB)."""


class Kind(NamedTuple):
    """One kind of job.

    work: does the job for the person of that name, and returns the sentences that people then read.
    doing: what is going on, as "a pool is being built".
    kept: what an interrupted process leaves.
    roles: who may ask for it.
    first: what it does before it says anything itself, as "reading the corpus".
    """

    work: Callable[[Store, Parameters, Progress, str], str]
    doing: str
    kept: str
    roles: tuple[str, ...] = ("lead",)
    first: str = "reading the project"


def _evaluate(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    """Evaluate uploaded files; their folder is removed whatever comes of it."""
    from curation.evaluation.answers.answer_files import AnswerSource
    from curation.evaluation.submission import RunSubmission, submit
    from curation.scoring.inputs.system_runs import RunSource

    sources = [RunSource(name, Path(path)) for name, path in parameters["runs"]]
    answers = [AnswerSource(name, Path(path)) for name, path in parameters["answers"]]
    asked = RunSubmission(**{name: parameters[name] for name in RunSubmission._fields})
    try:
        return submit(store, asked, sources, author, progress, answers).sentences
    finally:
        rmtree(parameters["folder"], ignore_errors=True)


def _plan_relabeling(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    from curation.relabeling.plan.plan import make_plan

    fraction, seed, overlap = (parameters[name] for name in ("fraction", "seed", "overlap"))
    plan = make_plan(store, fraction, seed, None, overlap, author=author, progress=progress)
    return f"Planned {plan.quarter}: {plan.pairs:,} of {amount(plan.set_pairs, 'pair')}."


def _relabel(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    from curation.relabeling.opening import PoolSettings, open_plan

    systems = parameters["systems"]
    opened = open_plan(
        store,
        parameters["annotators"],
        parameters["plan"],
        parameters["name"],
        pool=PoolSettings(systems, parameters["depth"]) if systems else None,
        duplicates=parameters["duplicates"],
        same=parameters["same"],
        author=author,
        progress=progress,
    )
    sentences = [
        f"Opened {opened.quarter} as the round {opened.round.round}: {amount(opened.pairs, 'pair')} again, "
        f"{opened.new_pairs:,} new ones, {amount(opened.round.presentations, 'presentation')}.",
        f"{amount(opened.same_people, 'query goes', 'queries go')} to people who judged before; "
        f"{amount(opened.added, 'query', 'queries')} joined, {opened.retired:,} left.",
    ]
    return "\n".join([*sentences, *(f"Left out: {n:,} {why}." for why, n in opened.left_out.items())])


def _past_evaluations(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    """Compare uploaded runs on two releases; their folder is removed whatever comes of it."""
    from curation.relabeling.drift.past_evaluations import compare_releases
    from curation.scoring.inputs.system_runs import RunSource

    sources = [RunSource(name, Path(path)) for name, path in parameters["runs"]]
    plan, old, new, part, reason = (parameters[name] for name in ("plan", "old", "new", "part", "reason"))
    try:
        found = compare_releases(store, plan, old, new, sources, part, reason, author, progress)
    finally:
        rmtree(parameters["folder"], ignore_errors=True)
    kept = sum(one.kept for one in found)
    runs = amount(len(sources), "run")
    return f"Compared {runs} on {old} and {new}: {kept:,} of {len(found):,} orders are kept."


def _check_file(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    from curation.jobs.imports import check_file

    return check_file(store, parameters, progress, author)


def _import_file(store: Store, parameters: Parameters, progress: Progress, author: str) -> str:
    from curation.jobs.imports import import_file

    return import_file(store, parameters, progress, author)


_OTHERS: dict[str, Kind] = {
    "plan re-labeling": Kind(
        _plan_relabeling,
        "a re-labeling is being planned",
        "No plan was stored: plan it again.",
        first="reading judgments and traffic",
    ),
    "relabel": Kind(
        _relabel,
        "a re-labeling is being opened",
        "No round was opened: open the plan again, what was done of it is kept.",
    ),
    "past evaluations": Kind(
        _past_evaluations,
        "runs are being compared on two releases",
        "Nothing was kept: upload the runs again.",
    ),
    "freeze": Kind(
        releasing.freeze,
        "a release is being frozen",
        "Nothing was frozen: freeze it again.",
        first="reading grades and parts",
    ),
    "evaluate": Kind(
        _evaluate, "runs are being evaluated", "No evaluation was stored: upload the runs again.", EVALUATING
    ),
    "check file": Kind(_check_file, "a file is being checked", "Nothing was changed: check it again."),
    "import": Kind(_import_file, "a file is being imported", "Nothing was imported: upload it again."),
    "split preview": Kind(
        releasing.preview_a_split,
        "a split is being previewed",
        "The split in force is as before: preview again, what was embedded is kept.",
        first="reading grades and documents",
    ),
    "split": Kind(
        releasing.split,
        "a split is being stored",
        "The split in force is as before: store it again.",
        first="reading grades and documents",
    ),
    "export": Kind(
        releasing.export,
        "a release is being exported",
        "Nothing can be downloaded: export it again. If sealed grades were asked for, that is logged.",
        first="verifying the release",
    ),
}


class _Kinds(Mapping[str, "Kind | Step"]):
    """The steps, and the kinds of job that are no step yet."""

    def __getitem__(self, name: str) -> Kind | Step:
        return _OTHERS[name] if name in _OTHERS else step_of(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*NAMES, *_OTHERS])

    def __len__(self) -> int:
        return len(NAMES) + len(_OTHERS)


KINDS = _Kinds()
"""Name → kind."""
