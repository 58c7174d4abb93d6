"""What can go wrong in brainbench.

BenchError
├── UsageError        a flag or name that cannot be used; the message lists the valid ones
│   └── NotLoaded     ... a system that is rightly named, and cannot be loaded as things stand
├── CorpusError       faults of corpus files: each a file, a field and a reason
├── NothingMeasured   no fixture, no applicable cell or no gold turn: there is nothing to judge
├── IncompatibleError two documents that cannot be compared, or one that cannot be read
├── OutputError       a result file cannot be written
├── EndpointError     a model cannot be asked: not there, refused, unknown, or not recorded
│   └── CallFailed    ... one question got no usable answer
├── OverBudget        the next question to a model could cost more than what is left
└── SystemFailure     the system under test did not do what it was asked
    ├── Unsupported   ... because it never said it could
    └── SystemLost    ... because what runs it hung, ended, or no longer keeps to the protocol

Every command ends with exit code 0 (pass), 1 (a measured rule broke) or 2 (nothing trustworthy was measured); with
141, silently, where nobody reads its standard output any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

UNLOADED, NOT_ADMITTED = "could not be loaded: ", "not admitted: "
"""How the reason begins why of a system nothing was played."""


def verdict_line(verdict: str, reason: str, text: str) -> str:
    """The one form of a line on standard error that says why a command did not end with 0.

    >>> verdict_line("fail", "threshold", "core: push_recall: 0.61 is below 0.7")
    'brainbench: fail: threshold: core: push_recall: 0.61 is below 0.7'
    """
    return f"brainbench: {verdict}: {reason}: {text}"


class BenchError(Exception):
    """The root of everything that brainbench raises on purpose; `reason` is the word printed first."""

    reason = "error"


class UsageError(BenchError):
    """A flag, value or name cannot be used."""

    reason = "usage"


class NotLoaded(UsageError):
    """A system that is rightly named cannot be loaded as things stand."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong with one file: the field as a path (`turns[2].ts`), and why."""

    file: str
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.field}: {self.reason}"


class CorpusError(BenchError):
    """The corpus cannot be used; carries every fault that was found, not only the first."""

    reason = "corpus"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(f) for f in self.faults))


class NothingMeasured(BenchError):
    """There is nothing to judge, and nothing judged is not a pass."""

    reason = "no_cases"


class IncompatibleError(BenchError):
    """Two documents cannot be compared, or one cannot be read."""

    reason = "incompatible"


class OutputError(BenchError):
    """A result cannot be written; nothing half-written is left behind."""

    reason = "output"


class EndpointError(BenchError):
    """A model cannot be asked."""

    reason = "endpoint"


class CallFailed(EndpointError):
    """One question to a model got no usable answer; others may."""


class OverBudget(BenchError):
    """The next question to a model could cost more than what is left."""

    reason = "over_budget"


class SystemFailure(BenchError):
    """The system under test did not do what it was asked."""

    reason = "system"


class Unsupported(SystemFailure):
    """The system was asked for something that is not among its capabilities."""


class SystemLost(SystemFailure):
    """What runs the system hung, ended or no longer keeps to the protocol; it must be started again to be asked."""
