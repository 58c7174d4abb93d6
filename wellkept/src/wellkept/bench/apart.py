"""Functions of the bench in processes of their own, so that each is measured by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any

_RUN = "import sys; from {module} import {name}; {name}(*sys.argv[1:])"


class Broke(Exception):
    """The process ended without a result; the message is the last that it said."""


def run_apart(module: str, name: str, *arguments: object, progress: Callable[[str], object] = bool) -> Any:
    """What the function answers that is called with the arguments as text: it `says` how far it is and `tells` once.

    Broke when it does neither.
    """
    argv = [sys.executable, "-c", _RUN.format(module=module, name=name), *map(str, arguments)]
    with (
        TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints,
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=complaints, text=True) as process,
    ):
        assert process.stdout is not None  # noqa: S101
        found = None
        for line in process.stdout:
            said = json.loads(line)
            if "so_far" in said:
                progress(said["so_far"])
            else:
                found = said
        process.wait()
        complaints.seek(0)
        if process.returncode or found is None:
            raise Broke(complaints.read().strip()[-300:] or f"it ended with code {process.returncode}")
    return found["found"]


def says(so_far: str) -> None:
    """Let whoever waits hear how far this process is."""
    print(json.dumps({"so_far": so_far}), flush=True)


def tells(found: object) -> None:
    """Answer."""
    print(json.dumps({"found": found}), flush=True)
