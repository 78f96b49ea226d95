"""The pages that analysts open: one per house and week, one per house, and the index of all.

`page.render_report` makes the page of a `WeekResult`; `summary.week_summary` the small file that
`index.render_index` and `index.render_house` read back from `outputs/`. Pages need no network and no other
file.
"""
