"""The findings of an agreement report, as sentences."""

from __future__ import annotations

from curation.agreement.fast_answers import MIN_AT_FLOOR
from curation.agreement.inter_annotator import why_not_shown
from curation.agreement.intra_annotator import pool_consistency
from curation.agreement.report import AgreementReport
from curation.agreement.verdict import judge_alpha
from curation.core.text import interval_text, join_names, percent, pluralize


def list_findings(report: AgreementReport) -> list[str]:
    """List the checks that could not be made, then the findings, in one sentence each."""
    why = why_not_shown(report.between.ordinal)
    unknown = [f"Not checked: agreement between annotators is unknown, because {why}."] if why else []
    verdict = [] if why else [judge_alpha(report.between).sentence]
    return [*unknown, *list_unchecked(report), *verdict, *list_other_findings(report)]


def list_other_findings(report: AgreementReport) -> list[str]:
    """List the findings of an agreement report besides the verdict, in one sentence each."""
    sentences = [row.sentence for row in report.pace if row.unread]
    if report.between.older:
        sentences.append(
            f"Left out: {pluralize(report.between.older, 'judgment')} of an older version of the document. "
            "Agreement compares only judgments of the same version."
        )
    consistency = pool_consistency(report.informative)
    if consistency.unreliable_reason is None:
        annotators = pluralize(sum(row.n > 0 for row in report.informative), "annotator")
        sentences.append(
            f"{annotators} repeated {percent(consistency.identical)} of {pluralize(consistency.n, 'grade')} "
            "on blind duplicates (95 % interval "
            f"{interval_text(consistency.low, consistency.high)}).{_name_uninformative(report)}"
        )
    return [*sentences, _state_disputes(report)]


def list_unchecked(report: AgreementReport) -> list[str]:
    """List the checks, besides the verdict, that could not be made, each in one sentence that gives the
    reason."""
    sentences = []
    why = pool_consistency(report.informative).unreliable_reason
    if why is not None:
        sentences.append(
            f"Not checked: annotators' consistency with themselves: {why}.{_name_uninformative(report)}"
        )
    few = [row.annotator for row in report.pace if not row.enough]
    if few:
        sentences.append(
            f"Not checked: the pace of {join_names(few)}, with fewer than {MIN_AT_FLOOR} timed answers each."
        )
    return sentences


def _name_uninformative(report: AgreementReport) -> str:
    """Name the annotators who do not count in consistency because their grades agree with nobody else's."""
    if not report.uninformative:
        return ""
    return (
        f" The share leaves out {', '.join(report.uninformative)}, whose grades agree with nobody's, or are "
        "nearly always the same. Repeating such grades does not show consistency."
    )


def _state_disputes(report: AgreementReport) -> str:
    pairs = report.consensus.pairs
    if report.disputed:
        disputed = f"{report.disputed:,} of {pairs:,} judged pairs are disputed"
        return f"{disputed} and wait for a reviewer's decision."
    return f"No pair is disputed ({pairs:,} judged)." if pairs else "No pair has been judged yet."
