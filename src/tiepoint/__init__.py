"""tiepoint joins embedding spaces: it measures which model to choose, and proves a move between them.

import tiepoint as tp

study = tp.load_study("my-study")
result = tp.bench(study)
tp.record(result, "my-study/results")
"""

from importlib.metadata import version as _version

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract
from tiepoint.core.result import Conditions, Decision, Result, Summary
from tiepoint.core.study import Rule, Study
from tiepoint.errors import CannotRun, InputError, NotInstalled, TiepointError
from tiepoint.workflows.bench import bench
from tiepoint.workflows.load import load_study
from tiepoint.workflows.record import load_result, record

__version__ = _version("tiepoint")
__all__ = [
    "Candidate",
    "CannotRun",
    "Conditions",
    "Contract",
    "Decision",
    "InputError",
    "NotInstalled",
    "Result",
    "Rule",
    "Study",
    "Summary",
    "TiepointError",
    "bench",
    "load_result",
    "load_study",
    "record",
]
