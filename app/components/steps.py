"""Rows of a path or a checklist: a mark, a name, a state and a sentence."""

from __future__ import annotations

from html import escape

from curation.operations.workflow.stage import WORDS, State

MARKS = {"not begun": "", "at work": "…", "done": "✓", "needs attention": "!"}


def step_row(
    name: str, state: State, line: str, mark: str, *, said: str = "", figures: str = "", is_next: bool = False
) -> str:
    """One row, as HTML.

    Parameters
    ----------
    mark: where the state has none of its own, such as the number of the step.
    said: the state in other words. figures: HTML below the sentence.
    """
    return (
        f'<section class="gs-step gs-is-{state.replace(" ", "-")}{" gs-next" if is_next else ""}">'
        f'<span class="gs-mark" aria-hidden="true">{MARKS[state] or escape(mark)}</span>'
        f"<h2>{escape(name)}<small>{escape(said or WORDS.get(state, state))}</small></h2>"
        f'<div><p dir="auto">{escape(line)}</p>{figures}</div></section>'
    )
