"""RBO@k: rank-biased overlap, which counts agreement at the top for more."""

from __future__ import annotations

import numpy as np

from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures.agreement import AgreementKind
from tiepoint.measures.measure import Column, TieRange
from tiepoint.measures.overlap import Overlap

PERSISTENCE = 0.9
"""With it the first ten ranks carry 86 % of the weight (Webber, Moffat and Zobel 2010, section 5)."""


def rank_biased_overlap(one: Run, other: Run, k: int, persistence: float = PERSISTENCE) -> TieRange:
    """Rank-biased overlap of the first k hits, extrapolated beyond the end of the longer list.

    With l hits in the longer list, X_d documents shared by the first d hits of both, and the persistence p:

        (1 - p) / p * (sum over d = 1..l of X_d / d * p^d) + X_l / l * p^l

    For lists of one length this is the paper's extrapolated value (equation 32, there the same as equation 30). For uneven ones
    it is not: equation 32 takes the shorter list for the beginning of a longer one and supposes that it would agree further
    on as it does so far, which makes 1 of `a` beside `a, b, c, ... j`. A ranking here that ends before k has ended: nothing
    more was found. So a rank that only one list has agrees with nothing, as if the shorter list went on with documents that
    the other lacks.

    one, other    rankings of the same queries, over the same units
    k             only the first k hits count; 1 <= k <= depth of both
    persistence   0 < p < 1: the chance of looking one rank further
    returns       Columns in [0, 1]: 1 for equal rankings without ties, 0 for rankings that share nothing or where one is empty;
                  undefined where both are. expected is the mean over all orders of tied documents, those beyond the depth
                  included: RBO^a. A value is a sum of overlaps, and one pair of orders has the least, or the most, overlap at
                  every depth, so that smallest and largest are in closed form too
    raises        InputError where k is beyond either depth, or the runs are of different numbers of queries
    source        Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, ACM TOIS 28(4); Corsi and Urbano
                  2024, The treatment of ties in rank-biased overlap, SIGIR
    """
    if not 0 < persistence < 1:
        raise InputError(f"the persistence of rank-biased overlap cannot be {persistence}", fix="0 < persistence < 1")
    overlap = Overlap.of(one, other, k)
    long = np.maximum(overlap.hits, overlap.other_hits)
    depth, end = np.arange(1, k + 1), long[:, None]
    weight = np.where(depth <= end, (1 - persistence) / persistence * persistence**depth, 0.0)
    weight = (weight + np.where(depth == end, persistence**depth, 0.0)) / depth
    columns = (overlap.smallest, overlap.expected, overlap.largest)
    return TieRange(*(Column.of((shared * weight).sum(axis=1), long > 0) for shared in columns))


AGREEMENT = AgreementKind(
    name="RBO",
    compute=rank_biased_overlap,
    definition=f"rank-biased overlap of the first k hits with persistence {PERSISTENCE:g}, extrapolated beyond the end of the "
    "longer list; a rank that only one list has agrees with nothing (equation 32 of the paper would suppose that the shorter "
    "list goes on agreeing), so 0 where one is empty; tied documents: the mean over all orders of both rankings (RBO^a), so that "
    "one which ties does not fully agree with itself; mean over queries, judged or not",
    range="0 to 1; undefined where both rankings are empty",
    ties="each document stands in the first d with the share of its group's places that do, in both rankings apart",
    source="Webber, Moffat & Zobel 2010; ties: Corsi & Urbano 2024",
)
