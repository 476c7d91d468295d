"""Curate, first step: draw the queries from the traffic, and compare the sample with it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import streamlit as st

from app import ui
from app.components.drawing import drawing
from app.next_step import missing_step
from app.views.curate.jobs import CurateContext
from curation.errors import CurationError, RefusedError
from curation.releases.stored import list_releases
from curation.retrieval import DEFAULT_MODEL
from curation.sampling.chart import sample_chart
from curation.sampling.designs import DESIGNS
from curation.sampling.frame.limits import Limits
from curation.sampling.plan import SamplingPlan, read_quotas
from curation.sampling.stored_sample import StoredSample, current_sample, judged_queries
from curation.sampling.strata import DIMENSIONS, TAG
from curation.sampling.tags.stored_tags import TAGS
from curation.sources.runs import stored_runs
from curation.statistics.weights import ALLOCATIONS
from curation.text import amount

DEFAULT_SIZE = 200
"""Queries that the form proposes to draw; the command has no default."""
COLUMNS = ["Stratum", "Queries", "Traffic", "Drawn", "Probability"]
_ASKED = "draw asked"


class DrawAsked(NamedTuple):
    """A draw that waits for a yes: what was the current sample and the last job when it was asked for."""

    sample_id: str
    after: str
    request: dict[str, Any]


class FormOptions(NamedTuple):
    """Names that the forms offer."""

    releases: list[str]
    runs: list[str]
    strata: list[str]


def show(context: CurateContext) -> None:
    sample = current_sample(context.store)
    options = _options(context, sample)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _draw(context, options, sample)
        if sample is not None:
            with st.expander("Top up the current sample"):
                _top_up(context, sample, options)
    with right:
        drawn = [kind for kind in context.jobs if kind in ("sample", "top up")]
        if drawn:
            context.ending(drawn[-1])
        _current(context, sample)


def _options(context: CurateContext, sample: StoredSample | None) -> FormOptions:
    with context.store.reading() as cursor:
        releases = [release.name for release in reversed(list_releases(cursor))]
        runs = [run.name for run in stored_runs(cursor)]
    return FormOptions(releases, runs, [stratum.name for stratum in sample.strata] if sample else [])


def _draw(context: CurateContext, options: FormOptions, sample: StoredSample | None) -> None:
    with st.form("sample"):
        size = st.number_input("Queries to draw", min_value=1, value=DEFAULT_SIZE, step=10)
        plan = _plan()
        with st.expander("More options"):
            more = _more(options)
            model = st.text_input("Embedding model of the tag synonym, or of the coverage map", DEFAULT_MODEL)
            limits = _limits(options)
        seed = st.number_input("Seed", value=0, step=1)
        asked = context.submit("Draw the sample", "sample")
    if asked:
        try:
            quotas = _quotas(more.pop("quotas"), size)
        except CurationError as error:
            ui.problem(error)
        else:
            plan |= {**more, "quotas": quotas}
            request = {"size": size, "seed": seed, "plan": plan, "limits": limits, "model": model}
            _ask(context, sample, request)
    if sample is not None:
        _replace(context, sample)


def _ask(context: CurateContext, sample: StoredSample | None, request: dict[str, Any]) -> None:
    """Draw at once where nothing is replaced; otherwise ask first, if nothing is known against the draw."""
    problem = context.problem("sample", request)
    if problem is not None:
        ui.problem(RefusedError(problem))
    elif sample is None:
        context.start("sample", request)
    else:
        st.session_state[_ASKED] = DrawAsked(sample.sample_id, context.after, request)


def _replace(context: CurateContext, sample: StoredSample) -> None:
    """Say what a new sample would replace, and draw it if that is wanted."""
    asked: DrawAsked | None = st.session_state.get(_ASKED)
    if asked is None or asked[:2] != (sample.sample_id, context.after):  # what it would replace has changed
        return
    with context.store.reading() as cursor:
        judged = judged_queries(cursor, sample.sample_id)
    with st.container(border=True, key="replace-sample"):
        ui.heading("Replace the current sample?")
        ui.sentences(
            f"It has {amount(sample.size, 'query', 'queries')}, and people have judged {judged:,} of them.\n"
            "Judgments stay, and so do queries that a round shows. The others leave the set, unless the new "
            "sample has them, too."
        )
        with st.container(horizontal=True):
            blocked, key = context.at_work is not None, f"replace {context.after}"
            if st.button("Replace the sample", type="primary", key=key, disabled=blocked):
                context.start("sample", asked.request)
            if st.button("Keep the current sample"):
                del st.session_state[_ASKED]
                st.rerun()


def _plan() -> dict[str, Any]:
    """What of a `SamplingPlan` most draws are asked for, as JSON knows it."""
    usual = SamplingPlan()
    kinds = [*DIMENSIONS, *(f"{TAG}{tag}" for tag in TAGS)]
    by = st.multiselect(
        "Strata",
        kinds,
        default=list(usual.strata),
        accept_new_options=True,
        help="They are crossed. A further field of the log is named field:NAME. A cluster is a region of the "
        "coverage map.",
    )
    design = st.selectbox("Design", DESIGNS, index=DESIGNS.index(usual.design))
    shares = st.selectbox("Allocation", ALLOCATIONS, help="Shares of the strata; pps takes equal only.")
    return {"strata": by, "design": design, "allocation": None if shares == ALLOCATIONS[0] else shares}


def _more(options: FormOptions) -> dict[str, Any]:
    """The rest of a `SamplingPlan`; quotas as they were written."""
    usual = SamplingPlan()
    quotas = _quota_field("Quotas: an exact number from a stratum", options)
    left, right = st.columns(2)
    head = left.number_input("Head up to", 0.0, 1.0, usual.head, 0.05, help="Share of the traffic.")
    torso = right.number_input("Torso up to", 0.0, 1.0, usual.torso, 0.05, help="Share of the traffic.")
    release = run = None
    if options.releases:
        release = st.selectbox(
            "Release that Neyman allocation learns from", [None, *options.releases], format_func=_name
        )
    if options.releases and options.runs:
        run = st.selectbox(
            "Run whose nDCG@10 varies there",
            [None, *options.runs],
            format_func=_name,
            help="None: the share of judged candidates that are relevant.",
        )
    return {"quotas": quotas, "head": head, "torso": torso, "from_release": release, "run": run}


def _limits(options: FormOptions) -> dict[str, Any]:
    """What `Limits` take, as JSON knows it."""
    usual = Limits()
    since = st.datetime_input("Asked from this time on (UTC)", value=None, format="YYYY-MM-DD")
    until = st.datetime_input("Asked before this time (UTC)", value=None, format="YYYY-MM-DD")
    often = st.number_input("Asked at least this often", min_value=1, value=usual.min_count)
    judged = st.checkbox("Leave out queries that a round shows or a release holds", usual.exclude_judged)
    released = st.checkbox("Leave out queries that any release holds", usual.exclude_released)
    held = st.multiselect("Leave out queries of these releases", options.releases) if options.releases else []
    spellings = st.checkbox("Draw spellings one slip apart as one query", usual.group_spellings)
    return {
        "since": _written(since),
        "until": _written(until),
        "min_count": often,
        "exclude_judged": judged,
        "exclude_released": released,
        "exclude_releases": held,
        "group_spellings": spellings,
    }


def _top_up(context: CurateContext, sample: StoredSample, options: FormOptions) -> None:
    with st.form("top up", border=False):
        size = st.number_input(
            "Queries in the whole sample",
            min_value=1,
            value=None,
            placeholder=f"{sample.size:,} now",
            help="What the quotas leave of it goes to the strata without one.",
        )
        quotas = _quota_field("Quotas: a least number from a stratum", options)
        ui.quiet("No earlier query is lost. Seed, strata and limits are the current sample's.")
        asked = context.submit("Top up", "top up")
    if asked:
        try:
            wanted = _quotas(quotas, size)
        except CurationError as error:
            ui.problem(error)
        else:
            context.start("top up", {"size": size, "quotas": wanted})


def _quota_field(label: str, options: FormOptions) -> str:
    example = "\n".join(f"{name}=40" for name in options.strata[:2]) or "head=40\ntail=60"
    return st.text_area(
        label, placeholder=example, height=88, help="One a line, such as tail=40 or tail=30%."
    )


def _quotas(text: str, size: int | None) -> dict[str, int]:
    return read_quotas([line for line in text.splitlines() if line.strip()], size)


def _written(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _name(choice: str | None) -> str:
    return choice or "none"


def _current(context: CurateContext, sample: StoredSample | None) -> None:
    if sample is None:
        st.info("No sample is drawn yet. Queries that were imported or written are judged without one.")
        missing_step(context.store, context.annotator, "import")
        return
    drawing(sample_chart(sample.strata))
    ui.table(f"Sample {sample.sample_id[:8]}", COLUMNS, [tuple(stratum) for stratum in sample.strata])
    ui.sentences("\n".join(sample.warnings))
