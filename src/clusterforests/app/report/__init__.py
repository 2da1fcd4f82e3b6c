"""The report: one self-contained HTML page about a fitted forest."""

from clusterforests.app.report.writing import write_report

__all__ = ["write_report"]
