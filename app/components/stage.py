"""A workflow stage, or a check before a freeze, as a row of HTML that shows its state."""

from __future__ import annotations

from html import escape

from curation.operations.workflow.stage import STATE_LABELS, State

STATE_MARKS = {"not begun": "", "at work": "…", "done": "✓", "needs attention": "!"}


def draw_stage(
    name: str,
    state: State,
    line: str,
    mark: str,
    *,
    label: str = "",
    figures: str = "",
    is_next: bool = False,
) -> str:
    """Draw a workflow stage, or a check before a freeze, as a row with its state.

    Parameters
    ----------
    mark: the mark to draw if the state has none, such as the number of the stage.
    label: words to show instead of the usual words for the state.
    figures: HTML below the sentence.
    """
    return (
        f'<section class="gs-step gs-is-{state.replace(" ", "-")}{" gs-next" if is_next else ""}">'
        f'<span class="gs-mark" aria-hidden="true">{STATE_MARKS[state] or escape(mark)}</span>'
        f"<h2>{escape(name)}<small>{escape(label or STATE_LABELS.get(state, state))}</small></h2>"
        f'<div><p dir="auto">{escape(line)}</p>{figures}</div></section>'
    )
