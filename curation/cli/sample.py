"""`goldgrade sample`: the queries to judge, drawn from the traffic."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Context

from curation.cli.invocation import refuse_others
from curation.cli.options import option, switch, with_options_of
from curation.cli.output import show
from curation.cli.program import app
from curation.cli.progress import run_operation
from curation.core.errors import InputError
from curation.queries.sampling.requests import DrawRequest, TopUpRequest


@app.command()
@with_options_of(DrawRequest, except_fields=("size", "quotas"))
def sample(
    request: DrawRequest,
    context: Context,
    size: Annotated[
        int | None, option(DrawRequest, "size", show_default="required, except for a top-up to quotas")
    ] = None,
    quota: Annotated[list[str] | None, option(DrawRequest, "quotas")] = None,
    top_up: Annotated[
        bool,
        switch(
            "--top-up",
            "Add queries to the current sample, and remove no query. The sample then reaches each "
            "--quota, or --size queries in total.",
        ),
    ] = False,
) -> None:
    """Draw the queries to judge, without replacement.

    By default head, torso and tail get equal shares of the sample; the unused share of a small stratum goes
    to the other strata. Strata of several dimensions are crossed and named like `head · docs-site · short`.
    A query is short up to 2 words, and long from 6 words on. A tag makes two strata, such as `question` and
    `not question`. A field is an additional column of the log (`import traffic --map metadata=COLUMN`). A
    cluster is the region of the corpus to which a query belongs most (`goldgrade coverage`). Queries asked
    equally often stay in one band. Each query is stored with its inclusion probability. The sample becomes
    the current one; earlier samples stay stored.

    With `--top-up` a stratum that is too small gets more queries. Each `--quota` is then a minimum, no
    earlier query is lost, and all probabilities stay correct. Seed, strata and limits stay as in the current
    sample.

    \b
    Examples:
      goldgrade sample --size 200 --seed 7
      goldgrade sample --size 200 --seed 7 --json
      goldgrade sample --size 300 --strata band,segment --allocation square-root
      goldgrade sample --size 200 --strata band,tag:question,field:country
      goldgrade sample --size 200 --strata cluster --allocation square-root
      goldgrade sample --size 200 --design pps --since 2026-01-01 --until 2026-04-01
      goldgrade sample --size 260 --seed 7 --quota head=67 --quota torso=67
      goldgrade sample --size 260 --seed 7 --quota head=30%
      goldgrade sample --top-up --quota tail=40 --quota torso=40
      goldgrade sample --top-up --size 300
      goldgrade sample --size 50 --seed 8 --min-count 2 --exclude-judged --exclude-released
    """
    from curation.queries.sampling.requests import read_quotas

    if top_up:
        reason = "--top-up keeps the settings of the current sample and takes only --size and --quota"
        refuse_others(context, reason, "size", "quota", "top_up")
    elif size is None:
        raise InputError("Give the number of queries to draw, such as --size 200.")
    quotas = read_quotas(quota or [], size)
    if size is None or top_up:
        report = run_operation("top up", TopUpRequest(size, quotas))
    else:
        report = run_operation("sample", replace(request, size=size, quotas=quotas))
    show(report, *report.warnings)
