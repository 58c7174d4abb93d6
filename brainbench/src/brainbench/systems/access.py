"""What the bench lets a system have: where paths start, a few variables, how far it may reach and how long it may take.

The command line reads it once; the workers get it as a value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brainbench.errors import UsageError

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE")
"""What a system sees of the caller's environment without being let."""
CALL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Access:
    """What a system is let have. `directory` is the caller's; relative paths in a system's name start there.

    `variables` are passed on, `token` is sent to a memory behind a URL; neither is ever printed. One call may take
    `call_seconds`. What is below the `hidden` directories it cannot read, where the kernel can see to that. Where
    `inside` is set, a system with a process of its own writes only below it, and cannot look at the one that asks it.
    """

    directory: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str | None = field(default=None, repr=False)
    remote: bool = False
    call_seconds: float = CALL_SECONDS
    hidden: tuple[str, ...] = ()
    inside: str = ""

    @property
    def where(self) -> str:
        """The directory from which relative paths start."""
        return self.directory or os.getcwd()


def granted(
    pass_env: Sequence[str] = (), token_env: str | None = None, remote: bool = False, fixture_seconds: float = 30.0
) -> Access:
    """What the flags let a system have. A call may take a third of a fixture's time. UsageError where one is unset."""
    for flag, names in (("--pass-env", pass_env), ("--token-env", (token_env,) if token_env else ())):
        for name in names:
            if name not in os.environ:
                raise UsageError(f"{flag}: no variable {name!r} in the environment; give the name of one that is set")
    return Access(
        directory=os.getcwd(),
        variables={name: os.environ[name] for name in pass_env},
        token=os.environ[token_env] if token_env else None,
        remote=remote,
        call_seconds=fixture_seconds / 3,
    )


def scrubbed(variables: Mapping[str, str], home: str, temporary: str) -> dict[str, str]:
    """The environment of a system: few variables of this process, its own HOME and TMPDIR, and what it was let have."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "HOME": home, "TMPDIR": temporary, **variables}
