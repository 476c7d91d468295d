"""Agreement: how far the labels can be believed.

Between annotators (`between`), within one annotator (`within`), and the grade that a pair ends up with
(`consensus`). A statistic that cannot be computed is a value with the reason, never NaN and never 0.
"""

from curation.agreement.report import AgreementReport, agreement_report

__all__ = ["AgreementReport", "agreement_report"]
