"""Case views: judged pairs as a reviewer's screen shows them.

A reviewer reads the grades and notes of a pair, but never an annotator's name. The seal's log gets an entry
for each day on which a reviewer opens sealed pairs (`unseal_for_reviewer`). A pair that the reviewer still
has to judge waits, because its opinions would bias the reviewer's judgment.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.core.spans import Spans
from curation.guides.guide import Guide, current_guide
from curation.labeling.consensus.comments import Comment, list_comments
from curation.labeling.consensus.decisions import Pair, unjudged_error
from curation.labeling.consensus.disputes import Case, Opinion, read_cases
from curation.labeling.presentation.drawing import NO_IMAGE_HOSTS, Hosts, draw_by_guide
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.labeling.rounds.withheld_answers import read_withheld_pairs
from curation.people.annotators import REVIEWERS, require_author
from curation.people.seal_access import unseal_for_reviewer
from curation.store import Store, fetch
from curation.store.documents import title_last_shown

MAX_PASSAGE_LENGTH = 12_000
"""Maximum characters of a document on screen; a longer document is cut to its best passage of about this
length."""
_ANCHORS = f"""
SELECT a.document_id, {title_last_shown("a")}, a.grade, a.reason
FROM counted_adjudications a
WHERE a.query_id = ? AND a.document_id <> ? AND a.grade IS NOT NULL ORDER BY a.grade DESC, a.document_id
"""  # noqa: S608


class DecisionView(NamedTuple):
    """A reviewer's decision on a pair, as the reviewer's screen shows it.

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
    """A judged query-document pair as a reviewer's screen shows it.

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
    """A document of the query with a reviewer's decision, shown for comparison with other documents."""

    document_id: str
    title: str
    grade: int
    reason: str


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
    """Draw the whole body of a pair's document with the query's words highlighted; raise the same errors as
    `read_case_view`."""
    case, guide = _read_case(store, reviewer, (query_id, document_id))
    return draw_by_guide(case.document, case.dispute.query, guide, image_hosts, longest=None).passage


def read_case_context(
    store: Store, reviewer: str, query_id: str, document_id: str
) -> tuple[list[Anchor], list[Comment]]:
    """Read the query's other decided documents, best first, and the comments on the pair.

    A document serves for comparison while its decision counts and its grade is on the current scale. A pair
    that the reviewer still has to judge is never shown for comparison.
    """
    case, guide = _read_case(store, reviewer, (query_id, document_id))
    with store.reading() as cursor:
        withheld_pairs = read_withheld_pairs(cursor, reviewer)
        anchors = fetch(cursor, Anchor, _ANCHORS, [query_id, case.dispute.document_id])
        comments = list_comments(cursor, reviewer, query_id, document_id)
    on_scale = [anchor for anchor in anchors if anchor.grade in guide.values]
    anchors = [anchor for anchor in on_scale if (query_id, anchor.document_id) not in withheld_pairs]
    return anchors, comments


def make_pair_id(query_id: str, document_id: str) -> str:
    """Return the hash that identifies a pair on a reviewer's screen."""
    return digest("pair", query_id, document_id)[:16]


def draw_case(case: Case, guide: Guide, image_hosts: Hosts = NO_IMAGE_HOSTS) -> CaseView:
    """Draw a judged pair for the reviewer's screen under the current guide."""
    dispute = case.dispute
    drawing = draw_by_guide(case.document, dispute.query, guide, image_hosts, MAX_PASSAGE_LENGTH)
    decision_view = None
    if dispute.decision is not None:
        decision_view = DecisionView(
            grade=dispute.decision.grade,
            reason=dispute.decision.reason,
            reviewer=dispute.decision.reviewer,
            outdated=dispute.decision_outdated,
            guide_hash=dispute.decision.guide_hash,
            evidence=dispute.evidence,
        )
    return CaseView(
        pair_id=make_pair_id(dispute.query_id, dispute.document_id),
        query_id=dispute.query_id,
        document_id=dispute.document_id,
        revision=case.revision,
        content_hash=dispute.content_hash,
        query=dispute.query,
        information_need=case.information_need,
        **drawing._asdict(),
        guide_hash=guide.guide_hash,
        opinions=dispute.opinions,
        decision=decision_view,
        remarks=dispute.remarks,
    )


def _read_case(store: Store, reviewer: str, pair: Pair) -> tuple[Case, Guide]:
    with store.reading() as cursor:
        require_author(cursor, reviewer, *REVIEWERS)
        if pair in read_withheld_pairs(cursor, reviewer):
            raise RefusedError("You are an annotator of this pair. Judge your own open items first.")
        cases = read_cases(cursor, [pair])
        guide = current_guide(cursor)
    if not cases:
        raise unjudged_error(*pair)
    unseal_for_reviewer(store, reviewer, [pair[0]])
    return cases[0], guide
