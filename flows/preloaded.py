"""What the jobs of a backfill need, loaded once: workers are copies of a process that imported it.

Prefect loads its extensions (prefect-dask, and all of Dask with it) when a process gets its first task, and
templates are compiled with the first page. Done here, that is no longer done in every worker anew.
"""

import gc

from prefect.plugins import load_prefect_collections

import flows.backfill  # noqa: F401 - imported to be there, as those below
import nilm.disaggregate.steps
import nilm.week.publish  # noqa: F401
from nilm.report.rendering import load_templates

load_prefect_collections()
load_templates()
gc.freeze()  # else the first collection in a copy writes to every page, and none is shared any more
