"""The reviewer's queue of disputed pairs, as a screen reads it and acts on it.

A reviewer reads the grades and notes of a pair, but never an annotator's name. Sealed pairs are in the queue,
because a reviewer has to read a pair to decide it. The seal's log gets an entry for each day on which a
reviewer opens sealed pairs (`reviewer_access`).

The pairs come in the order of `find_disputes`. A pair on a different reviewer's screen is claimed: the queue
leaves the pair out until the claim expires. Claims are in the memory of the process that serves the project,
and expire. Claims only avoid double work; the revision that a reviewer saw is what prevents conflicting
decisions. A pair that the reviewer still has to judge waits, because its opinions would bias the reviewer's
judgment.

A submission has a key with which the screen finds its outcome. No submission takes effect twice: a repeated
decision is recognized by the revision that its reviewer saw, a pair waits for one opinion at a time, and the
same question is stored once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NamedTuple, Self
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, model_validator

from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.spans import Spans
from curation.guides.guide import Guide, current_guide
from curation.guides.questions import ask_about_pair
from curation.labeling.consensus.adjudication import REVIEWERS, OvertakenError, decide_pair
from curation.labeling.consensus.comments import Comment, add_comment, list_comments
from curation.labeling.consensus.decisions import Pair, read_recent_decisions, unjudged_error
from curation.labeling.consensus.disputes import Case, Opinion, build_case, find_disputes, read_cases
from curation.labeling.consensus.second_opinions import ask_opinion, read_awaited_opinions
from curation.labeling.judging import Outcome
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, Hosts, draw_body, draw_document
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.upcoming import read_withheld_pairs
from curation.people.annotators import require_author
from curation.people.seal_access import reviewer_access
from curation.store import Store, fetch
from curation.store.documents import title_last_shown

MAX_SHOWN_LENGTH = 12_000
"""Maximum characters of a document on screen; a longer document is cut to its best passage of about this
length."""
_ANCHORS = f"""
SELECT a.document_id, {title_last_shown("a")}, a.grade, a.reason
FROM counted_adjudications a
WHERE a.query_id = ? AND a.document_id <> ? AND a.grade IS NOT NULL ORDER BY a.grade DESC, a.document_id
"""  # noqa: S608
CLAIM_SECONDS = 600.0
"""Seconds until a claim expires after the reviewer's last action on the pair."""
_claims_by_project: WeakKeyDictionary[Store, dict[Pair, tuple[str, float]]] = WeakKeyDictionary()
_lock = threading.Lock()
Name = Annotated[str, Field(min_length=1, max_length=1_000)]


class DecisionView(NamedTuple):
    """The decision on a pair, as the screen shows it.

    Attributes
    ----------
    outdated: the decision is about an older text and does not count.
    guide_hash: hash of the guide at the time of the decision; None in older decisions.
    evidence: the characters that the reviewer marked.
    """

    grade: int | None
    reason: str
    reviewer: str
    outdated: bool
    guide_hash: str | None
    evidence: Spans = ()


class CaseView(NamedTuple):
    """A pair as a reviewer's screen shows it.

    Attributes
    ----------
    pair_id: a hash of the query and the document.
    revision: the number of decisions on the pair.
    content_hash: the version of the document on screen.
    passage: the document drawn by the guide's template, the query's words marked.
    has_more: whether the document is longer than the passage; `draw_whole_case` returns the whole document.
    url, published: address and date of the document, where the guide has no template.
    facts: the fields that the guide's template shows, in order; None without a template.
    guide_hash: hash of the current guide.
    opinions: ordered by content, so that the order reveals no annotator.
    remarks: sentences about the marks and about the judged versions of the document.
    """

    pair_id: str
    query_id: str
    document_id: str
    revision: int
    content_hash: str | None
    query: str
    information_need: str | None
    title: list[Segment]
    passage: list[Node]
    has_more: bool
    url: str | None
    published: str | None
    facts: list[Fact] | None
    guide_hash: str
    opinions: tuple[Opinion, ...]
    decision: DecisionView | None
    remarks: list[str]


class Anchor(NamedTuple):
    """A decided document of the query, with which the reviewer compares other documents."""

    document_id: str
    title: str
    grade: int
    reason: str


class CaseQueue(NamedTuple):
    """The next disputed pairs for a reviewer, and counts of disputed pairs.

    Attributes
    ----------
    disputed: the number of pairs that wait for a decision.
    elsewhere: the number of disputed pairs that other reviewers have claimed.
    waiting: the number of pairs that wait for a second opinion, or for a judgment by this reviewer.
    """

    showings: list[CaseView]
    disputed: int
    elsewhere: int
    waiting: int


class ReviewerAction(BaseModel):
    """An action of a reviewer on a pair, sent by the screen.

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

    query_id: Name
    document_id: Name
    kind: Literal["decide", "opinion", "unclear", "comment"]
    client_key: Annotated[str, Field(max_length=128)]
    revision: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    grade: int | None = None
    words: Annotated[str, Field(max_length=8_000)] = ""
    content_hash: Annotated[str, Field(max_length=128)] | None = None
    evidence: Annotated[Spans, Field(max_length=1_000)] = ()

    @model_validator(mode="after")
    def says_its_grade(self) -> Self:
        """Refuse a decision without the field `grade`, because null is a decision and must be explicit."""
        if self.kind == "decide" and "grade" not in self.model_fields_set:
            raise ValueError("a decision needs the field `grade`: a grade, or null if no grade can be given")
        return self


def read_case_queue(
    store: Store,
    reviewer: str,
    limit: int = 6,
    after: Sequence[str] = (),
    image_hosts: Hosts = NO_IMAGE_HOSTS,
) -> CaseQueue:
    """Read the next disputed pairs, without the pairs already on screen (pair ids in `after`).

    Raises
    ------
    RefusedError: the person is neither reviewer nor lead.
    """
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        withheld = read_withheld_pairs(cursor, reviewer)
    disputes_by_pair = {(dispute.query_id, dispute.document_id): dispute for dispute in find_disputes(store)}
    pairs_by_id = {make_pair_id(*pair): pair for pair in disputes_by_pair if pair not in withheld}
    claimed = find_claimed_pairs(store, reviewer)
    free_ids = [key for key, pair in pairs_by_id.items() if pair not in claimed]
    next_ids = [key for key in free_ids if key not in set(after)][:limit]
    reviewer_access(store, reviewer, {pairs_by_id[key][0] for key in next_ids})
    claim_pairs(store, reviewer, [pairs_by_id[key] for key in [*after, *next_ids] if key in pairs_by_id])
    with store.reading() as cursor:
        cases_read = [build_case(cursor, disputes_by_pair[pairs_by_id[key]]) for key in next_ids]
        guide = current_guide(cursor)
        waiting = len(read_awaited_opinions(cursor)) + len(disputes_by_pair) - len(pairs_by_id)
    showings = [draw_case(case, guide, image_hosts) for case in cases_read]
    return CaseQueue(showings, len(pairs_by_id), len(pairs_by_id) - len(free_ids), waiting)


def read_recent_cases(store: Store, reviewer: str, image_hosts: Hosts = NO_IMAGE_HOSTS) -> list[CaseView]:
    """Read the pairs that the reviewer decided last, newest first, so that the reviewer can change a
    decision."""
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        withheld = read_withheld_pairs(cursor, reviewer)
    decided = [(row.query_id, row.document_id) for row in read_recent_decisions(store, reviewer)]
    pairs = [pair for pair in decided if pair not in withheld]
    reviewer_access(store, reviewer, {query_id for query_id, _ in pairs})
    with store.reading() as cursor:
        guide, cases_read = current_guide(cursor), read_cases(cursor, pairs)
    return [draw_case(case, guide, image_hosts) for case in cases_read]


def read_case_view(
    store: Store, reviewer: str, query_id: str, document_id: str, image_hosts: Hosts = NO_IMAGE_HOSTS
) -> CaseView:
    """Read the current state of a judged pair, disputed or not.

    Raises
    ------
    NotFoundError: nobody has judged the pair.
    RefusedError: the person is neither reviewer nor lead, or still has to judge the pair.
    """
    return draw_case(*_read_case(store, reviewer, (query_id, document_id)), image_hosts)


def draw_whole_case(
    store: Store, reviewer: str, query_id: str, document_id: str, image_hosts: Hosts = NO_IMAGE_HOSTS
) -> list[Node]:
    """Draw the whole body of a pair's document with the query's words highlighted; raises as `read_case_view`
    does."""
    case, guide = _read_case(store, reviewer, (query_id, document_id))
    return draw_body(case.document, case.dispute.query, guide, image_hosts)


def read_case_context(
    store: Store, reviewer: str, query_id: str, document_id: str
) -> tuple[list[Anchor], list[Comment]]:
    """Read further decided documents of the query, best first, and comments; raises as `read_case_view` does.

    A document serves for comparison while its decision counts and its grade is on the current scale. A pair
    that the reviewer still has to judge is never shown for comparison.
    """
    case, guide = _read_case(store, reviewer, (query_id, document_id))
    with store.reading() as cursor:
        withheld = read_withheld_pairs(cursor, reviewer)
        anchors = fetch(cursor, Anchor, _ANCHORS, [query_id, case.dispute.document_id])
        comments_read = list_comments(cursor, reviewer, query_id, document_id)
    on_scale = [anchor for anchor in anchors if anchor.grade in guide.values]
    anchors = [anchor for anchor in on_scale if (query_id, anchor.document_id) not in withheld]
    return anchors, comments_read


def make_pair_id(query_id: str, document_id: str) -> str:
    """Return the hash that identifies a pair on a reviewer's screen."""
    return digest("pair", query_id, document_id)[:16]


def draw_case(case: Case, guide: Guide, image_hosts: Hosts = NO_IMAGE_HOSTS) -> CaseView:
    """Draw a judged pair for the reviewer's screen under the current guide."""
    dispute = case.dispute
    drawn = draw_document(
        case.document,
        dispute.query,
        guide.presentation,
        longest=MAX_SHOWN_LENGTH,
        image_hosts=image_hosts,
        markable=guide.evidence is not None,
    )
    last = dispute.decision
    decision = last and DecisionView(
        last.grade, last.reason, last.reviewer, dispute.decision_outdated, last.guide_hash, dispute.evidence
    )
    return CaseView(
        pair_id=make_pair_id(dispute.query_id, dispute.document_id),
        query_id=dispute.query_id,
        document_id=dispute.document_id,
        revision=case.revision,
        content_hash=dispute.content_hash,
        query=dispute.query,
        information_need=case.information_need,
        **drawn._asdict(),
        guide_hash=guide.guide_hash,
        opinions=dispute.opinions,
        decision=decision,
        remarks=dispute.remarks,
    )


def claim_pairs(store: Store, reviewer: str, pairs: Iterable[Pair]) -> None:
    """Replace the reviewer's claims with claims on `pairs`; the claims of other reviewers stay."""
    now = time.monotonic()
    with _lock:
        claims = _claims_by_project.setdefault(store, {})
        for pair, (claimant, expiry) in list(claims.items()):
            if claimant == reviewer or expiry <= now:
                del claims[pair]
        for pair in pairs:
            claims.setdefault(pair, (reviewer, now + CLAIM_SECONDS))


def find_claimed_pairs(store: Store, reviewer: str) -> set[Pair]:
    """Return the pairs that other reviewers have claimed."""
    now = time.monotonic()
    with _lock:
        claims = _claims_by_project.get(store, {})
        return {pair for pair, (claimant, expiry) in claims.items() if claimant != reviewer and expiry > now}


def submit_actions(store: Store, reviewer: str, actions: Sequence[ReviewerAction]) -> list[Outcome]:
    """Carry out a reviewer's submissions, in order; return the outcome of each."""
    return [_submit_action(store, reviewer, action) for action in actions]


def _read_case(store: Store, reviewer: str, pair: Pair) -> tuple[Case, Guide]:
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        if pair in read_withheld_pairs(cursor, reviewer):
            raise RefusedError("This pair is in your queue as an annotator: first judge your own open items.")
        cases_read, guide = read_cases(cursor, [pair]), current_guide(cursor)
    if not cases_read:
        raise unjudged_error(*pair)
    reviewer_access(store, reviewer, [pair[0]])
    return cases_read[0], guide


def _submit_action(store: Store, reviewer: str, action: ReviewerAction) -> Outcome:
    try:
        _execute_action(store, reviewer, action)
    except OvertakenError as error:
        reviewer_access(store, reviewer, [action.query_id])  # the answer says what was decided
        if error.decision.reviewer == reviewer:
            message = "You decided that pair in another tab or window; the decision made there counts."
            return Outcome(action.client_key, "stale", message)
        return Outcome(action.client_key, "stale", error.found)
    except (InputError, NotFoundError, RefusedError) as error:
        return Outcome(action.client_key, "refused", error.found)
    return Outcome(action.client_key, "saved")


def _execute_action(store: Store, reviewer: str, action: ReviewerAction) -> None:
    pair = (action.query_id, action.document_id)
    if action.kind == "decide":
        version, evidence = action.content_hash, action.evidence
        decide_pair(store, *pair, action.grade, action.words, reviewer, action.revision, version, evidence)
    elif action.kind == "opinion":
        ask_opinion(store, *pair, reviewer)
    elif action.kind == "comment":
        add_comment(store, *pair, action.words, reviewer, action.client_key)
    else:
        ask_about_pair(store, *pair, action.words, reviewer)
