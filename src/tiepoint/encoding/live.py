"""A live model under guard: whatever it raises or returns becomes a vector, a reason, or the candidate's failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Role
from tiepoint.encoding.check import check_vectors
from tiepoint.encoding.embedder import Embedder, KnowsTokens
from tiepoint.encoding.encoded import EncodingFailed
from tiepoint.encoding.shelf import Latency
from tiepoint.errors import TiepointError

PROBE = "A short sentence about a place."
GIVE_UP = 32
"""So many texts in a row that fail alone are the model's fault, not theirs."""
LATENCY_QUERIES = 100
Value = TypeVar("Value")
Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a model raised. message: only fit to be shown where no text had been given to it."""

    name: str
    message: str

    @property
    def sentence(self) -> str:
        """The class and the first line of the message."""
        first = next(iter(self.message.splitlines()), "")[:200]
        return f"{self.name}: {first}" if first else self.name


def attempt(call: Callable[Given, Value], *given: Given.args, **named: Given.kwargs) -> Value | Failure:
    """What a call returns, or what it raised.

    The one place of the project where any exception is caught: a foreign model may raise whatever it likes, or even try to
    leave, and a candidate that fails is a result, never an abort. Ctrl-C is not caught.
    """
    try:
        return call(*given, **named)
    except TiepointError as error:
        problem = error.problems[0]
        return Failure(
            type(error).__name__, " ".join(part for part in (problem.what, problem.where, problem.fix) if part)
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001 a foreign model may raise anything
        return Failure(type(error).__name__, str(error))


@dataclass(slots=True)
class Live:
    """An embedder that is being used. texts are given with their prompts on."""

    embedder: Embedder
    failed_in_a_row: int = field(default=0, init=False)

    def load(self) -> float:
        """Bring the model into memory; seconds. Raises EncodingFailed."""
        started = time.perf_counter()
        outcome = attempt(self.embedder.load)
        if isinstance(outcome, Failure):
            raise EncodingFailed(f"cannot load ({outcome.sentence})")
        return time.perf_counter() - started

    def probe(self) -> None:
        """One short sentence in each role. Raises EncodingFailed, also where the roles must differ and do not."""
        contract = self.embedder.contract
        made: dict[Role, NDArray[np.floating]] = {}
        roles: tuple[Role, Role] = ("document", "query")
        for role in roles:
            outcome = attempt(self.embedder.encode, [contract.prompt(role) + PROBE], role)
            if isinstance(outcome, Failure):
                raise EncodingFailed(f"cannot encode a short sentence as a {role} ({outcome.sentence})")
            if len(self._unusable(outcome, 1)):
                raise EncodingFailed(f"a short sentence as a {role} gets a vector that is not finite or is zero")
            made[role] = outcome
        apart = (contract.query_prompt, contract.query_task) != (contract.document_prompt, contract.document_task)
        if apart and np.array_equal(made["document"], made["query"]):
            raise EncodingFailed("the contract's prompts or tasks differ by role, yet both roles give the same vector")

    def count(self, texts: Sequence[str]) -> NDArray[np.int64] | None:
        """(texts,) tokens before any cut; None where the model cannot count. Raises EncodingFailed."""
        outcome = attempt(self.embedder.count_tokens, texts)
        if isinstance(outcome, Failure):
            raise EncodingFailed(f"cannot count tokens ({outcome.name})")
        return outcome

    def unknown(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """(texts,) True where the model knows not one token; False where its tokenizer cannot tell. Raises EncodingFailed.

        texts   without prompts, whose tokens every model knows
        """
        if not isinstance(self.embedder, KnowsTokens):
            return np.zeros(len(texts), dtype=bool)
        outcome = attempt(self.embedder.known_tokens, texts)
        if isinstance(outcome, Failure):
            raise EncodingFailed(f"cannot tell unknown tokens ({outcome.name})")
        return np.zeros(len(texts), dtype=bool) if outcome is None else outcome == 0

    def encode(self, texts: Sequence[str], role: Role) -> tuple[NDArray[np.floating], dict[int, str]]:
        """(texts, dimension) and, by position, why a text has no vector; its row is then undefined.

        A batch that fails is halved until the bad text stands alone.
        raises   EncodingFailed for a wrong shape, dtype or norm, and when GIVE_UP texts in a row fail
        """
        outcome = attempt(self.embedder.encode, texts, role)
        if isinstance(outcome, Failure):
            reason = outcome.name
        else:
            if not len(self._unusable(outcome, len(texts))):
                self.failed_in_a_row = 0
                return outcome, {}
            reason = "the vector is not finite or is zero"
        if len(texts) == 1:
            self.failed_in_a_row += 1
            if self.failed_in_a_row >= GIVE_UP:
                raise EncodingFailed(f"{GIVE_UP} texts in a row could not be encoded ({reason})")
            contract = self.embedder.contract
            return np.empty((1, contract.dimension), dtype=contract.dtype), {0: reason}
        middle = len(texts) // 2
        left, left_failed = self.encode(texts[:middle], role)
        right, right_failed = self.encode(texts[middle:], role)
        return np.concatenate([left, right]), left_failed | {middle + i: why for i, why in right_failed.items()}

    def latency(self, texts: Sequence[str]) -> Latency:
        """Up to LATENCY_QUERIES queries, evenly spaced, encoded one by one; the vectors are thrown away."""
        seconds = []
        for i in (
            np.unique(np.linspace(0, len(texts) - 1, min(len(texts), LATENCY_QUERIES)).astype(int)) if texts else ()
        ):
            started = time.perf_counter()
            outcome = attempt(self.embedder.encode, [texts[i]], "query")
            if not isinstance(outcome, Failure):
                seconds.append(time.perf_counter() - started)
        if not seconds:
            return Latency()
        p50, p95 = (float(v) * 1e3 for v in np.percentile(seconds, [50, 95]))
        return Latency(p50, p95, len(seconds) / sum(seconds))

    def _unusable(self, vectors: NDArray[np.floating], items: int) -> NDArray[np.int64]:
        contract = self.embedder.contract
        found = check_vectors(vectors, contract, items=items)
        if found.shape or found.dtype:
            raise EncodingFailed(f"returned {found.shape or found.dtype}")
        if len(found.off_norm):
            worst = found.norms[found.off_norm[np.argmax(np.abs(found.norms[found.off_norm] - 1))]]
            raise EncodingFailed(
                f"the contract says normalised, yet a vector has the length {worst:.6g} (tolerance {contract.tolerance:g})"
            )
        return found.broken
