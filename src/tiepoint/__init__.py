"""tiepoint joins embedding spaces: it measures which model to choose, and proves a move between them.

import tiepoint as tp

study = tp.load_study("my-study")
result = tp.bench(study)
tp.record(result, "my-study/results")
"""

from importlib.metadata import version as _version

from tiepoint.core.audit import Audit, AuditSummary, GateResult
from tiepoint.core.candidate import Candidate
from tiepoint.core.check import Check
from tiepoint.core.comparison import Comparison, Movement
from tiepoint.core.contract import Contract
from tiepoint.core.gates import Gates
from tiepoint.core.result import Conditions, Decision, Result, Summary
from tiepoint.core.shown import Part, SideBySide
from tiepoint.core.study import Rule, Study
from tiepoint.errors import CannotRun, InputError, NotInstalled, TiepointError
from tiepoint.workflows.audit.run import audit
from tiepoint.workflows.bench.run import bench
from tiepoint.workflows.check.run import check
from tiepoint.workflows.compare import compare
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.record.audit import load_audit
from tiepoint.workflows.record.result import load_result, record
from tiepoint.workflows.report.index import write_index
from tiepoint.workflows.report.run import write_report
from tiepoint.workflows.show import show_part, show_query

__version__ = _version("tiepoint")
__all__ = [
    "Audit",
    "AuditSummary",
    "Candidate",
    "CannotRun",
    "Check",
    "Comparison",
    "Conditions",
    "Contract",
    "Decision",
    "GateResult",
    "Gates",
    "InputError",
    "Movement",
    "NotInstalled",
    "Part",
    "Result",
    "Rule",
    "SideBySide",
    "Study",
    "Summary",
    "TiepointError",
    "audit",
    "bench",
    "check",
    "compare",
    "load_audit",
    "load_result",
    "load_study",
    "record",
    "show_part",
    "show_query",
    "write_index",
    "write_report",
]
