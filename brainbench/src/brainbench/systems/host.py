"""The process of a foreign Python class: makes it, and serves the methods of the protocol on standard input and output.

What the class prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from traceback import walk_tb
from typing import Any, BinaryIO

import msgspec

from brainbench.errors import BenchError, SystemFailure, Unsupported, UsageError
from brainbench.systems import System, load_system
from brainbench.systems.answers import MOST_FACTS, plain, printable, told_facts, what_happened
from brainbench.systems.wire import METHODS, OPTIONAL, Hello

ERRORS: Mapping[str, type[BenchError]] = {"usage": UsageError, "unsupported": Unsupported, "failure": SystemFailure}
"""What a class may raise that the bench tells apart, the narrowest first."""
_MOST_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Raised:
    """What a class raised: which of the bench's errors, and its first line."""

    kind: str
    message: str


class Asked(msgspec.Struct):
    """A request whose params are not read yet."""

    id: int
    method: str
    params: msgspec.Raw

    def told(self, kind: type) -> Any:
        """The params as a value of `kind`."""
        return msgspec.json.decode(self.params, type=kind)


class Halved(msgspec.Struct):
    """A request with half a character in a text, which only the standard library reads."""

    id: int
    method: str
    params: Any

    def told(self, kind: type) -> Any:
        """The params as a value of `kind`."""
        return msgspec.convert(self.params, kind)


def read_request(line: bytes) -> Asked | Halved:
    """A line as a request."""
    try:
        return msgspec.json.decode(line, type=Asked)
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(line), Halved)


def main(name: str) -> None:
    """Serve the class of that name until it is closed or nobody asks any more."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    sys.argv = [""]
    serve(name, requests, answers)


def serve(name: str, requests: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer each request, one a line."""
    served = _Served(name)
    with suppress(OSError):
        for line in requests:
            asked = read_request(line)
            answers.write(b'{"id":%d,%s}\n' % (asked.id, served.answer(asked)))
            answers.flush()


class _Served:
    """A class that is made when it is greeted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.system = System()

    def answer(self, asked: Asked | Halved) -> bytes:
        """The result or the error of a request as a member of a JSON object. Nothing that a class does is raised."""
        try:
            return b'"result":' + msgspec.json.encode(self._result(asked))
        except BaseException as error:
            return b'"error":' + msgspec.json.encode(raised(error, self._where(asked, error)))

    def _where(self, asked: Asked | Halved, error: BaseException) -> str:
        """The method in which a class raised, as `Class.method`: it may call others of its own that are asked too."""
        inner = asked.method
        for frame, _ in walk_tb(error.__traceback__):
            if frame.f_code.co_name in METHODS and frame.f_locals.get("self") is self.system:
                inner = frame.f_code.co_name
        return f"{type(self.system).__name__}.{inner}"

    def _result(self, asked: Asked | Halved) -> Any:
        method = METHODS[asked.method]
        if asked.method == "hello":
            self.system = load_system(self.name, here=True)
            return hello(self.system)
        params: Any = asked.told(method.params)
        act = getattr(self.system, asked.method)
        if not method.by_field:
            told = act(params)
        else:
            told = act(**{name: getattr(params, name) for name in params.__dataclass_fields__})
        if method.result is None:
            return None
        if method.result is bool:
            return told is True
        if asked.method == "recall_facts":
            return told_facts(told if params.limit is None else islice(told, params.limit))
        return plain(_listed(told), method.result)


def _listed(told: Any) -> Any:
    """Whatever can be gone through as a list, as far as anybody would read it."""
    if isinstance(told, Iterable) and not isinstance(told, str | bytes | dict):
        return list(islice(told, MOST_FACTS))
    return told


def hello(system: System) -> Hello:
    """What a class says of itself, and which methods it has of its own. Many pages are always given at once."""
    own = {name for name in OPTIONAL if getattr(type(system), name) is not getattr(System, name)}
    return Hello(
        name=system.name,
        version=plain(system.version, str),
        can=tuple(sorted(system.can)),
        also=tuple(sorted(own | {"write_pages", "read_pages"})),
        alone=bool(system.alone),
        tells_turns=bool(system.tells_turns),
        production=plain(sorted(system.production), tuple[str, ...]),
    )


def raised(error: BaseException, where: str) -> Raised:
    """The error as one that the bench knows; that it happened in the method `where` is told unless it is the user's."""
    kind = next((kind for kind, known in ERRORS.items() if isinstance(error, known)), "failure")
    return Raised(kind, printable(str(error), _MOST_CHARS) if kind == "usage" else f"{where}: {what_happened(error)}")
