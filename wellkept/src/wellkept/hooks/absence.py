"""What the hook process does when the daemon gave it no answer; `client.py` reads this file only then.

An event that would have kept a conversation is written down, for the next daemon to see to. When there is no daemon,
one is started. Neither takes longer than writing a small file, and only a session's start waits for the daemon to
come up: nobody has typed anything yet. Like the client it imports nothing but `os`, `sys` and `time`.
"""

import os
import sys
import time
from collections.abc import Callable

CAPTURES = ("stop", "pre-compact", "session-end")
KEPT_FIELDS = ("session_id", "transcript_path", "cwd")
"""What is written down of an event: where the conversation is, and nothing that was said."""
WAITING = 1000
"""So many events are kept at most."""
AGAIN_S = 5.0
"""A daemon is not started more often than this."""
LOG_BYTES = 256 * 1024
IDLE_MINUTES = "240"
NOTHING_LOST = ("no_stdin", "unauthorized", "source_mismatch")
"""Reasons for which the event is not kept: there was none, or it is not for this daemon."""


def meet(
    harness: str,
    event: str,
    data_dir: str,
    source: str,
    stdin: bytes,
    reason: str,
    until: float,
    again: Callable[[], bytes | None],
) -> bytes:
    """Write the event down, start a daemon, and give what the hook prints; `again` asks once more (None: no daemon)."""
    if not os.path.isdir(data_dir):
        return b""
    if event in CAPTURES and reason not in NOTHING_LOST:
        write_down(data_dir, harness, event, source, stdin)
    if reason != "no_daemon":
        return b""
    start(data_dir, source)
    log = os.path.join(data_dir, "daemon.log")
    before = os.stat(log).st_size
    if event != "session-start" and not (harness == "openclaw" and event in CAPTURES):
        return b""
    while time.monotonic() < until - 0.02:
        time.sleep(0.02)
        # A daemon that serves has nothing to say there.
        if os.stat(log).st_size > before:
            return b""
        answer = again()
        if answer is not None:
            return answer
    return b""


def write_down(data_dir: str, harness: str, event: str, source: str, stdin: bytes) -> None:
    """Keep the event until a daemon takes it; one of each session is enough, because it says where all of it is."""
    fields = strings_on_top(stdin.decode("utf-8", "replace"))
    if "transcript_path" not in fields:
        return
    folder = os.path.join(data_dir, "waiting")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if len(os.listdir(folder)) >= WAITING:
            return
    session = fields.get("session_id", "").strip('"')
    plain = session.isascii() and session.replace("-", "").isalnum() and len(session) <= 80
    name = f"{harness}-{session if plain else time.time_ns()}.json"
    kept = "".join(f',"{key}":{fields[key]}' for key in KEPT_FIELDS if key in fields)
    fresh = os.path.join(folder, f".{os.getpid()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, 0o600)
    try:
        bound = ',"source":"@project"' if source == "@project" else ""
        os.write(descriptor, f'{{"harness":"{harness}","event":"{event}"{bound}{kept}}}\n'.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(fresh, os.path.join(folder, name))
    directory = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    os.fsync(directory)
    os.close(directory)


def strings_on_top(text: str) -> dict[str, str]:
    """The strings that a JSON object holds at its top, as they are written, by their keys."""
    found: dict[str, str] = {}
    depth, at = 0, 0
    key: str | None = None
    while (start := text.find('"', at)) >= 0:
        between = text[at:start]
        depth += between.count("{") + between.count("[") - between.count("}") - between.count("]")
        end = string_end(text, start)
        if end < 0:
            break
        if depth == 1:
            if key is not None and between.strip() == ":":
                found[key] = text[start : end + 1]
                key = None
            else:
                key = text[start + 1 : end]
        at = end + 1
    return found


def string_end(text: str, start: int) -> int:
    """Where the string that begins at `start` ends; -1 when it does not."""
    end = text.find('"', start + 1)
    while end >= 0:
        before = end
        while text[before - 1] == "\\":
            before -= 1
        if (end - before) % 2 == 0:
            return end
        end = text.find('"', end + 1)
    return -1


def start(data_dir: str, source: str) -> None:
    """Start a daemon that outlives this process and its harness, unless one was started a moment ago.

    What it has to say, because it cannot serve, is in `daemon.log`.
    """
    path = os.path.join(data_dir, "daemon.log")
    try:
        if 0 <= time.time() - os.stat(path).st_mtime < AGAIN_S:
            return
    except FileNotFoundError:
        pass
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(log).st_size > LOG_BYTES:
        os.ftruncate(log, 0)
    os.utime(path)
    options = ["--data-dir", data_dir, "--source", source, "--idle-minutes", IDLE_MINUTES]
    argv = [sys.executable, "-E", "-P", "-m", "wellkept", "daemon", *options]
    if os.fork() != 0:
        os.close(log)
        return
    try:
        os.setsid()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor, target in ((log, 2), (null, 0), (null, 1)):
            os.dup2(descriptor, target)
        os.closerange(3, 1024)
        os.execv(argv[0], argv)  # noqa: S606 - our own interpreter
    finally:
        os._exit(127)
