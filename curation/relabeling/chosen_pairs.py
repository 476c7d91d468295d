"""Pairs that a lead chooses to be judged again now, apart from the plan of the quarter and its random part.

A slice of the gold set is chosen by filters. Filters with the same key widen the slice, filters with
different keys narrow it: `tag=hard tag=typo grade=3` are the pairs with grade 3 whose query has one of both
tags. The slice gets a round and a report of its own, and its new grades replace the old ones as in a quarter.
The report estimates nothing for the rest of the set, because nobody drew the slice at random.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.words import fold
from curation.people.annotators import require_author
from curation.people.seal_access import read_sealed_queries
from curation.relabeling.calendar import find_present_quarter
from curation.relabeling.judged_pairs import GONE, JudgedPair, read_pairs
from curation.relabeling.open_quarter import QuarterOpened, open_plan
from curation.relabeling.pair_selection import CHOSEN, make_plan_pair
from curation.relabeling.plan import PlanDraft, RelabelingPlan, store_plan
from curation.relabeling.request import ChosenRequest, QuarterRequest
from curation.relabeling.stored_plans import list_plans
from curation.store import COMMAND_LINE, Cursor, Store

FILTERS: dict[str, Callable[[JudgedPair, str], Collection[str]]] = {
    "query": lambda pair, text: (pair.query_id, fold(text)),
    "document": lambda pair, _text: (pair.document_id,),
    "tag": lambda pair, _text: pair.tags,
    "grade": lambda pair, _text: () if pair.grade is None else (str(pair.grade),),
    "person": lambda pair, _text: pair.annotators,
}
"""Key of a filter → the values of a pair, and the text of its query, that the filter compares."""


def judge_again(
    store: Store, request: ChosenRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open a round that judges a slice of the gold set again.

    Raises
    ------
    InputError: a filter is wrong, or there is no reason.
    NotFoundError: the project does not know an annotator.
    RefusedError: the slice is empty, an annotator cannot sign in, or the author is not a lead.
    """
    reason = (request.reason or "").strip()
    if not reason:
        raise InputError("Say why these pairs are judged again: the report repeats the reason.")
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        pairs = find_slice(cursor, request.slice)
        quarter = find_present_quarter(cursor, None)
        number = sum(plan.quarter.startswith(f"{quarter}.") for plan in list_plans(cursor)) + 1
    if not pairs:
        raise RefusedError("No judged pair with a document in the corpus is in this slice.")
    name = f"{quarter}.{number}"
    rows = [make_plan_pair(pair, CHOSEN) for pair in pairs]
    plan = RelabelingPlan(
        plan_id=digest("chosen", name, request.slice, reason, [pair.pair for pair in pairs]),
        quarter=name,
        fraction=1.0,
        seed=0,
        overlap=request.overlap,
        set_pairs=len(pairs),
        pairs=len(pairs),
        fraction_of_pairs=1.0,
        graded_pairs=0,  # the slice represents no other pairs
        reasons={CHOSEN: len(pairs)},
        judgments=len(pairs) * request.overlap,
    )
    parameters: dict[str, object] = {"fraction": 1.0, "seed": 0, "overlap": request.overlap, "strata": []}
    parameters |= {"slice": list(request.slice), "reason": reason}
    store_plan(store, PlanDraft(plan, rows, [], parameters), author)
    return open_plan(
        store, QuarterRequest(request.annotators, plan.plan_id, duplicates=0.0), progress, author
    )


def find_slice(cursor: Cursor, filters: Sequence[str]) -> list[JudgedPair]:
    """Find the judged pairs of a slice, without pairs whose document is gone, ordered by ids.

    A filter by grade leaves out the pairs of sealed queries, because it would tell their grades.

    Raises
    ------
    InputError: there is no filter, or a filter has another form than KEY=VALUE with a key of `FILTERS`.
    """
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for text in filters:
        key, _, value = text.partition("=")
        if key not in FILTERS or not value:
            raise InputError(f"{text!r} is no filter; expected {'=…, '.join(FILTERS)}=…")
        wanted[key].add(value)
    if not wanted:
        raise InputError(f"Name the pairs to judge again with {'=…, '.join(FILTERS)}=…")
    texts = dict(cursor.execute("SELECT query_id, text FROM queries").fetchall())
    if "query" in wanted:
        wanted["query"] |= {fold(value) for value in wanted["query"]}
    sealed = read_sealed_queries(cursor) if wanted.keys() & {"grade", "person"} else ()
    return [
        pair
        for pair in read_pairs(cursor)
        if pair.document != GONE
        and pair.query_id not in sealed
        and all(
            not values.isdisjoint(FILTERS[key](pair, texts[pair.query_id])) for key, values in wanted.items()
        )
    ]
