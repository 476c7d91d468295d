"""Named cuts: two queries whose direct ties do not count, as somebody writes them: 'A~B', by id or text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from curation.errors import refuse_problems
from curation.text import normalise_query


def cuts_by_id(cuts: Iterable[tuple[str, str]], queries: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The cuts by query id, ordered; a query may be named by its text where one query alone has it.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    InputError: a name is no query's, or several queries'; or a cut names one query twice; all at once.
    """
    by_text: dict[str, list[str]] = {}
    for name, text in queries.items():
        by_text.setdefault(normalise_query(text), []).append(name)
    found, wrong = set(), []
    for cut in cuts:
        ids = []
        for name in cut:
            texts = by_text.get(normalise_query(name), [])
            if name in queries and any(other != name for other in texts):
                two = f"the id of {queries[name]!r} and the text of {texts[0]!r}"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is {two}; name them by text and by id")
            elif name in queries or len(texts) == 1:
                ids.append(name if name in queries else texts[0])
            else:
                has = f"several queries have that text: {', '.join(texts)}" if texts else "no query has that"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is no graded query's id or text; {has}")
        if len(set(ids)) == 2:
            found.add((min(ids), max(ids)))
        elif len(ids) == 2:
            wrong.append(f"Cut {'~'.join(cut)}: both name the query {ids[0]}; expected two queries")
    refuse_problems(wrong)
    return tuple(sorted(found))
