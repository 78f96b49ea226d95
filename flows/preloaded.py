"""What the jobs of a backfill need, loaded once: workers are copies of a process that imported it.

Prefect loads its extensions (prefect-dask, and all of Dask with it) when a process gets its first task,
templates are compiled with the first page, and compiled kernels are loaded by the first fit. Done here, that
is no longer done in every worker anew.
"""

import gc

import numpy as np
from prefect.plugins import load_prefect_collections

import flows.backfill  # noqa: F401 - imported to be there, as those below
import nilm.disaggregate.steps
import nilm.week.publish  # noqa: F401
from lfm import SwitchingDecoder
from nilm.report.rendering import load_templates

load_prefect_collections()
load_templates()
_on = np.arange(24)[:, None] // [3, 4] % 2
_waveforms = np.sin(np.outer([1, 3], np.linspace(0, 6, 16)))
SwitchingDecoder().fit(_on @ _waveforms)  # of the smallest week there is: its answer is of no use
gc.freeze()  # else the first collection in a copy writes to every page, and none is shared any more
