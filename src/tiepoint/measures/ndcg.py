"""nDCG@k: graded gain, discounted by rank, over the best that was possible."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column, MeasureKind, Option


def ndcg(graded: GradedRun, k: int, options: Mapping[str, Option]) -> Column:
    """Discounted cumulative gain over its ideal, for every query at once.

    options   gain: "exponential" is 2^grade - 1, "linear" is the grade
    returns   Column in [0, 1]; the ideal orders the same relevant documents; undefined where there is none
    source    Järvelin & Kekäläinen 2002; the exponential gain of Burges et al. 2005
    """
    gain = np.array([0.0, 1.0, 3.0, 7.0] if options["gain"] == "exponential" else [0.0, 1.0, 2.0, 3.0])
    discount = 1 / np.log2(np.arange(k) + 2)
    found = (gain[np.maximum(graded.grade[:, :k], 0)] * discount).sum(axis=1)
    # Place p of the ideal list holds the highest grade of which more than p documents are that good or better.
    at_least = graded.relevant[:, ::-1].cumsum(axis=1)[:, ::-1]
    place = np.arange(k)
    ideal_grade = (at_least[:, None, 1:] > place[None, :, None]).sum(axis=2)
    ideal = (gain[ideal_grade] * discount).sum(axis=1)
    defined = ideal > 0
    return Column.of(found / np.where(defined, ideal, 1.0), defined)


MEASURE = MeasureKind(
    name="nDCG",
    compute=ndcg,
    definition="discounted gain of the first k hits over that of the ideal order; gain 2^grade - 1 (with gain=linear: the "
    "grade itself), discount log2(rank + 1), an unjudged hit gains 0; mean over queries",
    options={"gain": ("exponential", "linear")},
)
