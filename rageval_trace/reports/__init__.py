"""
The scorecard and its renderings, one a file.
"""

from rageval_trace.reports.scorecard import MetricSummary, RecordResult, Scorecard

__all__ = ["MetricSummary", "RecordResult", "Scorecard"]
