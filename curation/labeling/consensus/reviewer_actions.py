"""The actions that a reviewer's screen sends about judged pairs, each carried out at most once.

An action has a key with which the screen finds its outcome. No action takes effect twice: a repeated decision
is recognized by the revision that its reviewer saw, a pair waits for one opinion at a time, and the same
question is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.spans import Spans
from curation.guides.questions import ask_about_pair
from curation.labeling.consensus.adjudication import OvertakenError, decide_pair
from curation.labeling.consensus.comments import add_comment
from curation.labeling.consensus.second_opinions import ask_opinion
from curation.labeling.judging import Outcome
from curation.people.seal_access import unseal_for_reviewer
from curation.store import Store

RecordId = Annotated[str, Field(min_length=1, max_length=1_000)]


class ReviewerAction(BaseModel):
    """A reviewer's action on a pair, sent by the screen.

    Attributes
    ----------
    kind: 'decide', 'opinion' (ask for one more opinion), 'unclear' (ask about the guide) or 'comment' (write
        to other reviewers).
    revision: with 'decide', the number of decisions that the pair had when the reviewer saw it.
    grade: with 'decide', a grade of the scale, or None for "no grade can be given".
    words: with 'decide' the reason, with 'unclear' the question, with 'comment' the comment.
    content_hash: with 'decide', the version of the document that the reviewer read.
    evidence: with 'decide', characters of the document's body that show the grade, as pairs of start and end.
    """

    model_config = ConfigDict(extra="forbid")

    query_id: RecordId
    document_id: RecordId
    kind: Literal["decide", "opinion", "unclear", "comment"]
    client_key: Annotated[str, Field(max_length=128)]
    revision: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    grade: int | None = None
    words: Annotated[str, Field(max_length=8_000)] = ""
    content_hash: Annotated[str, Field(max_length=128)] | None = None
    evidence: Annotated[Spans, Field(max_length=1_000)] = ()

    @model_validator(mode="after")
    def require_grade(self) -> Self:
        """Reject a decision without the field `grade`, because null means "no grade can be given" and must
        therefore be explicit."""
        if self.kind == "decide" and "grade" not in self.model_fields_set:
            raise ValueError("a decision needs the field `grade`: a grade, or null if no grade can be given")
        return self


def submit_actions(store: Store, reviewer: str, actions: Sequence[ReviewerAction]) -> list[Outcome]:
    """Carry out a reviewer's actions in order, and return each action's outcome."""
    return [_submit_action(store, reviewer, action) for action in actions]


def _submit_action(store: Store, reviewer: str, action: ReviewerAction) -> Outcome:
    try:
        _execute_action(store, reviewer, action)
    except OvertakenError as error:
        unseal_for_reviewer(store, reviewer, [action.query_id])  # the message shows the other decision
        if error.decision.reviewer == reviewer:
            message = "You already decided this pair in another tab or window, and that decision counts."
            return Outcome(action.client_key, "stale", message)
        return Outcome(action.client_key, "stale", error.found)
    except (InputError, NotFoundError, RefusedError) as error:
        return Outcome(action.client_key, "refused", error.found)
    return Outcome(action.client_key, "saved")


def _execute_action(store: Store, reviewer: str, action: ReviewerAction) -> None:
    pair = (action.query_id, action.document_id)
    if action.kind == "decide":
        decide_pair(
            store,
            *pair,
            grade=action.grade,
            reason=action.words,
            reviewer=reviewer,
            seen_revision=action.revision,
            content_hash=action.content_hash,
            evidence=action.evidence,
        )
    elif action.kind == "opinion":
        ask_opinion(store, *pair, reviewer)
    elif action.kind == "comment":
        add_comment(store, *pair, action.words, reviewer, action.client_key)
    else:
        ask_about_pair(store, *pair, action.words, reviewer)
