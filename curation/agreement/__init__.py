"""Agreement: how reliable the labels are.

Between annotators (`between`), within one annotator (`annotators`), and the report of both (`report`). A
statistic that cannot be computed is a value with the reason, never NaN and never 0.
"""

from curation.agreement.report.report import AgreementReport, agreement_report

__all__ = ["AgreementReport", "agreement_report"]
