"""`goldgrade sample`: draw the queries to be judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from curation.cli.options import given_flags, option, with_options_of
from curation.cli.output import carry_out, emit, refuse_no_page, say, show_outcome, write_page
from curation.cli.program import Json, app, project_store
from curation.core.errors import InputError
from curation.queries.sampling.request import DrawRequest, TopUpRequest


@app.command()
@with_options_of(DrawRequest, besides=("size", "quotas"))
def sample(
    request: DrawRequest,
    context: typer.Context,
    size: Annotated[
        int | None, option(DrawRequest, "size", show_default="needed unless topping up to quotas")
    ] = None,
    quota: Annotated[list[str] | None, option(DrawRequest, "quotas")] = None,
    top_up: Annotated[
        bool,
        typer.Option(
            "--top-up",
            help="Add queries to the current sample and keep all of it. It then has at least each "
            "--quota, or --size queries.",
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a chart of the sample as one HTML file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw the queries to judge from all imported traffic. They are drawn without replacement.

    By default head, torso and tail get equal shares of the sample; what a small stratum cannot use goes to
    the others. Strata of several dimensions are crossed and named like `head · docs-site · short`. Length is
    short up to 2 words, long from 6. A tag makes two strata, such as `question` and `not question`. A field
    is another field of the log (`import traffic --metadata-field`). A cluster is the region of the corpus
    that a query is most about (`goldgrade coverage`). Queries asked equally often stay in one band. Each
    query is stored with its inclusion probability. The sample becomes the current one; earlier samples stay
    stored.

    Neyman allocation gives more queries to strata that are large and whose figures vary. It needs a release
    that was sampled by the same strata, and minimizes the error of a mean over searches. With `--top-up` a
    stratum that is too small gets more queries. Each `--quota` is then a minimum, no earlier query is lost,
    and all probabilities stay correct. Seed, strata and limits are those of the current sample.

    \b
    Examples:
      goldgrade sample --size 200 --seed 7
      goldgrade sample --size 200 --seed 7 --head 0.5 --torso 0.8 --json
      goldgrade sample --size 300 --strata band,segment --allocation square-root --html sample.html
      goldgrade sample --size 200 --strata band,tag:question,field:country
      goldgrade sample --size 200 --strata cluster --allocation square-root
      goldgrade sample --size 200 --design pps --since 2026-01-01 --until 2026-04-01
      goldgrade sample --size 260 --seed 7 --quota head=67 --quota torso=67
      goldgrade sample --size 260 --seed 7 --head 500 --torso 5000 --quota head=30%
      goldgrade sample --top-up --quota tail=40 --quota torso=40
      goldgrade sample --top-up --size 300
      goldgrade sample --size 200 --allocation neyman --release v1 --imported-run bm25 --exclude-release v1
      goldgrade sample --size 50 --seed 8 --min-count 2 --exclude-judged --exclude-released
    """
    from curation.operations.registry import OPERATIONS
    from curation.queries.sampling.chart import sample_page
    from curation.queries.sampling.sample_plan import read_quotas

    refuse_no_page(html, project_store().path)
    if top_up:
        _refuse_other_options(context)
    elif size is None:
        raise InputError("No --size was given; expected how many queries to draw, for instance --size 200.")
    quotas = read_quotas(quota or [], size)
    asked: TopUpRequest | DrawRequest = TopUpRequest(size, quotas)
    if size is not None and not top_up:
        asked = replace(request, size=size, plan=replace(request.plan, quotas=quotas))
    report, outcome = carry_out(OPERATIONS["top up" if top_up else "sample"], asked)
    if html is not None:
        page = sample_page(
            report.sample_id, report.strata, report.parameters, report.left_out, report.warnings
        )
        write_page(html, page, "the sample was drawn, but ")
    emit(as_json, report, lambda: show_outcome(outcome))
    if html is not None and not as_json:
        say(f"The chart is in {html}.")


_TOPPED_UP_WITH = frozenset({"size", "quota", "html", "as_json", "top_up"})


def _refuse_other_options(context: typer.Context) -> None:
    """Refuse options that a top-up would ignore, because it is drawn like the sample."""
    given = [flag for name, flag in given_flags(context).items() if name not in _TOPPED_UP_WITH]
    if given:
        raise InputError(
            "--top-up draws like the current sample and takes only --size and --quota; "
            f"leave {', '.join(given)} out."
        )
