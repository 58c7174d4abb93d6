"""A program that answers JSON lines well until it is asked for context, and then does what its argument says.

python uncivil.py [MANNER] [AT_METHOD]; at `turn` it does so only once it is played
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

MANNER = sys.argv[1] if len(sys.argv) > 1 else "polite"
AT = sys.argv[2] if len(sys.argv) > 2 else "context"
PAGES = {}
CAN = ["page_write", "context"]


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def result_of(method, params):
    if method == "hello":
        return {"name": "uncivil", "version": "1", "can": CAN}
    if method == "open":
        PAGES.clear()
    elif method == "write_page":
        PAGES[params["slug"]] = params["content"]
    elif method == "read_page":
        return PAGES.get(params["slug"])
    elif method == "context":
        return {"text": " ".join(f"→ `{slug}`" for slug in PAGES)}
    return None


def fork_bomb():
    for _ in range(9):  # at most 512, should nobody end it
        os.fork()
    time.sleep(600)


def hog():
    held = []
    while len(held) < 40:
        held.append(bytearray(b"x" * (50 << 20)))
        time.sleep(0.02)
    time.sleep(600)


def start_child():
    subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL)


def daemonise():
    start_child()
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(601)
        os._exit(0)
    os.waitpid(first, 0)


def big_file():
    with open("big", "wb") as file:
        file.truncate(1 << 31)


def misbehave(number, good):
    acts = {
        "hang": lambda: time.sleep(600),
        "crash": lambda: (sys.stderr.write("first\nthe disk is\nfull of eels\n"), sys.stderr.flush(), os._exit(7)),
        "slow": lambda: time.sleep(6),
        "flood": lambda: say({"id": number, "result": {"text": "x" * 10_000_000}}),
        "endless": lambda: [raw(b"x" * 65536) for _ in range(10_000)],
        "garbage": lambda: raw(b"starting up...\n[info] ready\n"),
        "bytes": lambda: raw(b'{"id": %d, "result": {"text": "\xff\xfe"}}\n' % number),
        "deep": lambda: raw(b'{"id": %d, "result": ' % number + b"[" * 100_000 + b"]" * 100_000 + b"}\n"),
        "other-id": lambda: say({"id": number + 1, "result": good}),
        "neither": lambda: say({"id": number}),
        "wrong": lambda: say({"id": number, "result": {"text": 5}}),
        "error": lambda: say({"id": number, "error": "no\nsuch luck"}),
        "jsonrpc": lambda: say({"jsonrpc": "2.0", "id": number, "result": good, "error": None}),
        "jsonrpc-error": lambda: say({"jsonrpc": "2.0", "id": number, "error": {"code": 5, "message": "no such luck"}}),
        "shut-in": lambda: (os.close(0), say({"id": number, "result": good}), time.sleep(600)),
        "shut-out": lambda: (os.close(1), time.sleep(600)),
        "fork-bomb": fork_bomb,
        "hog": hog,
        "big-file": big_file,
        "daemons": daemonise,
        "child": start_child,
        "litter": lambda: Path("litter").write_text("here"),
        "noise": lambda: (sys.stderr.write("noise " * 100_000), sys.stderr.flush()),
        "nosy": lambda: say({"id": number, "result": {"text": seen(), "ids": []}}),
    }
    acts[MANNER]()
    return MANNER in (
        "jsonrpc",
        "jsonrpc-error",
        "flood",
        "bytes",
        "deep",
        "other-id",
        "neither",
        "wrong",
        "error",
        "shut-in",
        "shut-out",
        "nosy",
    )


def reached(method, params):
    if AT == "turn":
        return method == "context" and not params["session"].startswith("admission")
    return method == AT


def seen():
    return " ".join([*sorted(os.environ), *os.listdir("."), os.getcwd()])


for line in sys.stdin:
    request = json.loads(line)
    good = result_of(request["method"], request["params"])
    if MANNER != "polite" and reached(request["method"], request["params"]) and misbehave(request["id"], good):
        continue
    say({"id": request["id"], "result": good})
