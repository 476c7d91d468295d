"""`goldset sample`: draw the queries to be judged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, Seed, app, listed, project_store
from curation.cli.output import emit, left_out, progress_bar, refuse_no_page, say, table, write_page
from curation.errors import InputError
from curation.text import amount

if TYPE_CHECKING:
    from curation.sampling.sample import SampleReport


@app.command()
def sample(
    context: typer.Context,
    size: Annotated[
        int | None,
        typer.Option(help="Exact number of distinct queries to draw; needed unless topping up to quotas."),
    ] = None,
    seed: Seed = 0,
    strata: Annotated[
        str,
        typer.Option(
            help="Dimensions of the strata, separated by commas: band, segment, length, cluster, tag:NAME, "
            "field:NAME."
        ),
    ] = "band",
    design: Annotated[
        str, typer.Option(help="stratified, or pps: probability proportional to traffic.")
    ] = "stratified",
    allocation: Annotated[
        str | None,
        typer.Option(
            help="Shares of the strata: equal, proportional (to traffic), square-root (of traffic), or "
            "neyman (by the variance in a release).",
            show_default="equal",
        ),
    ] = None,
    from_release: Annotated[
        str | None, typer.Option(help="For neyman: the release that the variance is measured in.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            help="For neyman: the imported run whose nDCG@10 is measured on that release.",
            show_default="the share of judged candidates that are relevant",
        ),
    ] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(
            help="STRATUM=N or STRATUM=N%: exactly N, or that share of --size, from this stratum; the others "
            "share the rest. Repeatable."
        ),
    ] = None,
    head: Annotated[
        float,
        typer.Option(
            help="The head is the most asked queries, up to this share of the traffic, or up to this number "
            "of queries, from 2 on.",
            show_default="a third",
        ),
    ] = 1 / 3,
    torso: Annotated[
        float,
        typer.Option(
            help="The torso goes from there up to this share or number; the rest is tail.",
            show_default="two thirds",
        ),
    ] = 2 / 3,
    since: Annotated[str | None, typer.Option(help="Only traffic from this time on, UTC.")] = None,
    until: Annotated[
        str | None, typer.Option(help="Only traffic before this time, UTC: 2026-04-01 ends with March.")
    ] = None,
    min_count: Annotated[int, typer.Option(help="Only queries asked at least this many times.")] = 1,
    exclude_judged: Annotated[
        bool, typer.Option("--exclude-judged", help="Leave out queries that are in a round or a release.")
    ] = False,
    exclude_released: Annotated[
        bool, typer.Option("--exclude-released", help="Leave out queries that are in any release.")
    ] = False,
    exclude_release: Annotated[
        list[str] | None, typer.Option(help="Leave out queries that are in this release. Repeatable.")
    ] = None,
    group_spellings: Annotated[
        bool,
        typer.Option(
            help="Draw spellings that differ by one typing error as one query, with their traffic added up."
        ),
    ] = True,
    model: Annotated[
        str,
        typer.Option(help="Embedding model of the tag synonym, or of the coverage map: a name or a folder."),
    ] = "all-MiniLM-L6-v2",
    top_up: Annotated[
        bool,
        typer.Option(
            "--top-up",
            help="Add queries to the current sample, up to each --quota or to --size, and keep all of it.",
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with a chart of the sample against the traffic to this file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw the queries to judge from all imported traffic. They are drawn without replacement.

    By default head, torso and tail get equal shares of the sample; what a small stratum cannot use goes to
    the others. Strata of several dimensions are crossed and named like `head · docs-site · short`. Length is
    short up to 2 words, long from 6. A tag makes two strata, such as `question` and `not question`. A field
    is another field of the log (`import traffic --metadata-field`). A cluster is the region of the corpus
    that a query is most about (`goldset coverage`). Queries asked equally often stay in one band. Each
    query is stored with its inclusion probability. The sample becomes the current one; earlier samples stay
    stored.

    Neyman allocation gives more queries to strata that are large and whose figures vary. It needs a release
    that was sampled by the same strata, and minimizes the error of a mean over searches. With `--top-up` a
    stratum that is too small gets more queries. Each `--quota` is then a minimum, no earlier query is lost,
    and all probabilities stay correct. Seed, strata and limits are those of the current sample.

    \b
    Examples:
      goldset sample --size 200 --seed 7
      goldset sample --size 200 --seed 7 --head 0.5 --torso 0.8 --json
      goldset sample --size 300 --strata band,segment --allocation square-root --html sample.html
      goldset sample --size 200 --strata band,tag:question,field:country
      goldset sample --size 200 --strata cluster --allocation square-root
      goldset sample --size 200 --design pps --since 2026-01-01 --until 2026-04-01
      goldset sample --size 260 --seed 7 --quota head=67 --quota torso=67
      goldset sample --size 260 --seed 7 --head 500 --torso 5000 --quota head=30%
      goldset sample --top-up --quota tail=40 --quota torso=40
      goldset sample --top-up --size 300
      goldset sample --size 200 --allocation neyman --from-release v1 --run bm25-tuned --exclude-release v1
      goldset sample --size 50 --seed 8 --min-count 2 --exclude-judged --exclude-released
    """
    from curation.releases.spread import spread_if_asked
    from curation.releases.stored import released_queries
    from curation.sampling.chart import sample_page
    from curation.sampling.frame.limits import Limits
    from curation.sampling.plan import SamplingPlan, read_quotas
    from curation.sampling.sample import draw_sample
    from curation.sampling.top_up import top_up as draw_more

    store = project_store()
    refuse_no_page(html, store.path)
    if top_up:
        _refuse_other_options(context)
        with progress_bar() as progress:
            quotas, released = read_quotas(quota or [], size), released_queries(store)
            report = draw_more(store, quotas, size, progress, released=released)
    else:
        if size is None:
            raise InputError(
                "No --size was given; expected how many queries to draw, for instance --size 200."
            )
        plan = SamplingPlan(listed(strata), design, allocation, read_quotas(quota or [], size), head, torso)
        limits = Limits(
            since=_time("--since", since),
            until=_time("--until", until),
            min_count=min_count,
            exclude_judged=exclude_judged,
            group_spellings=group_spellings,
            exclude_released=exclude_released,
            exclude_releases=tuple(exclude_release or ()),
        )
        with progress_bar() as progress:
            spread, released = spread_if_asked(store, from_release, run), released_queries(store)
            report = draw_sample(
                store, size, seed, plan, limits, progress, model, released=released, spread=spread
            )
    if html is not None:
        page = sample_page(
            report.sample_id, report.strata, report.parameters, report.left_out, report.warnings
        )
        write_page(html, page, "the sample was drawn, but ")
    emit(as_json, report, lambda: _show_sample(report, html))


_TOPPED_UP_WITH = frozenset({"size", "quota", "html", "as_json", "top_up"})


def _refuse_other_options(context: typer.Context) -> None:
    """Refuse options that a top-up would ignore, because it is drawn like the sample."""
    given = [
        f"--{name.replace('_', '-')}"
        for name in context.params
        if name not in _TOPPED_UP_WITH and _on_command_line(context, name)
    ]
    if given:
        raise InputError(
            "--top-up draws like the current sample and takes only --size and --quota; "
            f"leave {', '.join(given)} out."
        )


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _time(option: str, text: str | None) -> datetime | None:
    from curation.files.times import parse_time

    time = parse_time(text)
    if text is not None and time is None:
        raise InputError(
            f"{option} {text!r} is not a time; expected for instance 2026-01-31 or 2026-01-31T08:00."
        )
    return time


def _show_sample(report: SampleReport, page: Path | None) -> None:
    table(
        f"Sample {report.sample_id[:8]}",
        ["stratum", "queries", "traffic", "drawn", "probability"],
        [tuple(stratum) for stratum in report.strata],
    )
    if report.drawn_before:
        say("This sample was drawn before; it is the current one, and nothing was added.")
    else:
        say(
            f"Drew {amount(report.size, 'query', 'queries')}; {report.added:,} of them are new to the "
            "project."
        )
    if report.grouped:
        say(f"{amount(report.grouped, 'query was', 'queries were')} grouped with a more frequent spelling.")
    left_out(report.left_out, "rows of traffic")
    say(*report.warnings)
    if page is not None:
        say(f"The chart is in {page}.")
