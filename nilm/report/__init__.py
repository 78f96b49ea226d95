"""The pages that analysts open: one per house and week, one per house, and the index of all.

`render_report` makes the page of a `WeekResult`; `week_summary` the small file that `render_index` and
`render_house` read back from `outputs/`. Pages need no network and no other file.
"""

from nilm.report.index import render_house, render_index, years_of
from nilm.report.page import render_report
from nilm.report.summary import week_summary

__all__ = ["render_house", "render_index", "render_report", "week_summary", "years_of"]
