"""The hook process: one event from the harness to the daemon, and the daemon's answer back.

    <python> -I -S client.py <harness> <event> <socket> [<deadline ms> [<data dir> <source>]]

It starts on every prompt, so it imports nothing that a bare interpreter does not hold already, except `os` and
`_socket` (`sys`, `time` and `_signal` are built in). It exits 0 whatever happens and prints nothing but a whole
answer that came in time. When it got no answer it leaves one line in `heartbeat.jsonl` beside the socket, and what
`absence.py` does then is read only then.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys
import time

PROTOCOL = "2"
DEADLINE_MS = 800
STDIN_SHARE = 300 / DEADLINE_MS
SOCKET_SHARE = 600 / DEADLINE_MS
STDIN_BYTES = 4 * 1024 * 1024
ANSWER_BYTES = 1024 * 1024
LOG_BYTES = 1024 * 1024
"""The daemon trims the log; while there is none, the client stops adding to it at this size."""

SILENT_CODES = {401: "unauthorized", 409: "source_mismatch"}


class NoAnswer(Exception):
    """There will be no answer; `reason` is a word for the log."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def arm(seconds: float, reason: str) -> None:
    """Interrupt whatever runs `seconds` from now with NoAnswer(reason); at once when none are left."""
    if seconds <= 0:
        raise NoAnswer(reason)

    def expire(signum: int, frame: object) -> None:
        raise NoAnswer(reason)

    _signal.signal(_signal.SIGALRM, expire)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def disarm() -> None:
    """No interruption from here on."""
    _signal.setitimer(_signal.ITIMER_REAL, 0)


def read_stdin() -> bytes:
    """All of standard input, to its end. Too much is read away, so that the writer meets no broken pipe."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(0, 65536):
        size += len(piece)
        if size <= STDIN_BYTES:
            pieces.append(piece)
    if size == 0 or size > STDIN_BYTES:
        raise NoAnswer("no_stdin")
    return b"".join(pieces)


def read_secret(socket_path: str) -> str:
    """The install secret beside the socket; a file that others can read is no secret."""
    path = os.path.join(os.path.dirname(socket_path), "ipc-secret")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NoAnswer("no_daemon") from None
    try:
        status = os.fstat(descriptor)
        secret = os.read(descriptor, 128).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or not secret.isalnum():
        raise NoAnswer("unauthorized")
    return secret


def send(connection: _socket.socket, request: bytes) -> None:
    """Send it all, or as much as the daemon takes: its refusal may come before the end, and can still be read."""
    try:
        connection.sendall(request)
    except BrokenPipeError:
        return


def exchange(socket_path: str, path: str, fields: str, body: bytes) -> bytes:
    """Everything the daemon sends back to one POST, up to the end of the connection."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: wellkept\r\nConnection: close\r\n"
        f"{fields}wellkept-protocol: {PROTOCOL}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(socket_path)
    except (FileNotFoundError, ConnectionRefusedError):
        raise NoAnswer("no_daemon") from None
    except OSError:
        raise NoAnswer("ipc_unavailable") from None
    answer = b""
    try:
        send(connection, head.encode() + body)
        while len(answer) <= ANSWER_BYTES and (piece := connection.recv(65536)):
            answer += piece
    except OSError:
        if not answer:
            raise NoAnswer("ipc_unavailable") from None
    return answer


def answer_of(response: bytes) -> bytes:
    """The body of a whole, successful response of this protocol; anything else is NoAnswer."""
    if not response:
        raise NoAnswer("ipc_unavailable")
    head, _, body = response.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    fields = {}
    for line in rest:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip()
    words = first.split()
    if fields.get("wellkept-protocol") != PROTOCOL or len(words) < 2 or not words[1].isdigit():
        raise NoAnswer("stale_daemon")
    status = int(words[1])
    if status != 200:
        raise NoAnswer(SILENT_CODES.get(status, "ipc_unavailable"))
    if fields.get("content-length") != str(len(body)):
        raise NoAnswer("ipc_unavailable")
    return body


def append_heartbeat(socket_path: str, event: str, reason: str) -> None:
    """One line beside the socket; a place that does not take it is left alone."""
    path = os.path.join(os.path.dirname(socket_path), "heartbeat.jsonl")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f'{{"ts":"{now}","event":"{event}","outcome":"failed","reason":"{reason}"}}\n'
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    if os.fstat(descriptor).st_size < LOG_BYTES:
        os.write(descriptor, line.encode("ascii", "replace"))
    os.close(descriptor)


def write_stdout(answer: bytes) -> None:
    """Print the whole answer."""
    while answer:
        answer = answer[os.write(1, answer) :]


def deadline_s(argument: str) -> float:
    """The time for everything in seconds; an argument that is no sensible number counts as none."""
    if argument.isascii() and argument.isdigit() and 0 < int(argument) <= 600_000:
        return int(argument) / 1000
    return DEADLINE_MS / 1000


def is_word(text: str) -> bool:
    """Letters, digits and hyphens only: safe in a request line and in a log."""
    return text.isascii() and text.replace("-", "").isalnum()


def ask(harness: str, event: str, socket_path: str, source: str, stdin: bytes) -> bytes:
    """What the daemon says to the event. NoAnswer says why there is nothing."""
    fields = f"wellkept-secret: {read_secret(socket_path)}\r\n"
    if source:
        fields += f"wellkept-source: {source}\r\n"
    return answer_of(exchange(socket_path, f"/ipc/hook/{harness}/{event}", fields, stdin))


def without_answer(arguments: list[str], stdin: bytes, reason: str, until: float) -> bytes:
    """What absence.py makes of an event that got no answer: b"" or, from a daemon that it started, one after all."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "absence.py")
    space = {"__name__": "absence"}
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), space)  # noqa: S102 - our own file, and no import system to load it
    harness, event, socket_path, _, data_dir, source = arguments

    def again() -> bytes | None:
        try:
            arm(until - time.monotonic(), "deadline")
            return ask(harness, event, socket_path, source, stdin)
        except NoAnswer as still:
            return None if still.reason == "no_daemon" else b""
        finally:
            disarm()

    found: bytes = space["meet"](harness, event, data_dir, source, stdin, reason, until, again)  # type: ignore[operator]
    return found


def main(arguments: list[str], started: float) -> None:
    """Serve one event. Raises nothing but what an interpreter about to end may ignore."""
    if len(arguments) not in (3, 4, 6) or not is_word(arguments[0]) or not is_word(arguments[1]):
        return
    harness, event, socket_path = arguments[:3]
    whole = deadline_s(arguments[3] if len(arguments) > 3 else "")
    stdin = b""
    try:
        arm(whole * STDIN_SHARE, "no_stdin")
        stdin = read_stdin()
        if os.environ.get("WELLKEPT_HOOKS") == "0":
            return
        left = started + whole - time.monotonic()
        arm(min(left, whole * SOCKET_SHARE), "deadline")
        answer = ask(harness, event, socket_path, arguments[5] if len(arguments) == 6 else "", stdin)
        arm(started + whole - time.monotonic(), "deadline")
        write_stdout(answer)
        disarm()
    except BaseException as error:
        disarm()
        if os.environ.get("WELLKEPT_HOOKS") == "0":
            return
        reason = error.reason if isinstance(error, NoAnswer) else f"exception:{type(error).__name__}"
        try:
            append_heartbeat(socket_path, f"{harness}/{event}", reason)
        finally:
            if len(arguments) == 6:
                write_stdout(without_answer(arguments, stdin, reason, started + whole))


if __name__ == "__main__":
    try:
        main(sys.argv[1:], time.monotonic())
    finally:
        # Skips the interpreter's farewell: no traceback can be printed, and the exit code is 0.
        os._exit(0)
