"""A recorded audit of the sample study's own two candidates."""

from __future__ import annotations

import sys
from pathlib import Path

import tiepoint as tp
from recorded import runnable
from tiepoint.workflows.audit.run import audit


def recorded_audit(folder: Path, **how: object) -> Path:
    """The folder of an audit from `letters` to `words`; `how` as of sample.write_sample."""
    sys.modules.pop("own", None)
    study = tp.load_study(runnable(folder / "s", **how))
    return tp.record(audit(study, "letters", "words"), folder / "results")
