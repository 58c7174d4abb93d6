"""The plugin that OpenClaw loads: its events go to the pinned commands, their answers come back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wellkept.hooks.install import PLUGIN, PLUGIN_DIR, Bound, plan_install
from wellkept.hooks.json_text import parse

DRIVER = """
import plugin from "%s/index.js";
const on = {};
plugin.register({ pluginConfig: { commands: %s }, on: (name, handler) => (on[name] = handler) });
const answers = [];
for (const [name, event, ctx] of %s) answers.push((await on[name](event, ctx)) ?? null);
console.log(JSON.stringify({ events: Object.keys(on), answers }));
"""
ECHO = "import sys; open(sys.argv[2], 'a').write(sys.argv[1] + ' ' + sys.stdin.read() + chr(10)); print(%r)"


class Gateway:
    """A stand-in for OpenClaw, which loads the plugin and calls what it registers."""

    def __init__(self, place: Path) -> None:
        self.place, self.log = place, place / "log"

    def run(self, commands: dict[str, list[str]], *events: tuple[str, dict[str, Any], dict[str, Any]]) -> Any:
        driver = self.place / "driver.mjs"
        driver.write_text(DRIVER % (PLUGIN_DIR, json.dumps(commands), json.dumps(events)))
        done = subprocess.run(["node", str(driver)], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    def command(self, event: str, says: str) -> list[str]:
        return [sys.executable, "-c", ECHO % says, event, str(self.log)]

    def sent(self) -> list[tuple[str, Any]]:
        lines = [line.partition(" ") for line in self.log.read_text().splitlines()]
        return [(name, json.loads(event)) for name, _, event in lines]


@pytest.fixture
def gateway(tmp_path: Path) -> Gateway:
    assert shutil.which("node") is not None, "install Node, or run this by .ci/registry"
    return Gateway(tmp_path)


MESSAGES = [
    {"role": "user", "content": "Hi.", "timestamp": 1_785_765_603_000},
    {"role": "toolResult", "content": [{"type": "text", "text": "noise"}]},
    {"role": "assistant", "content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Hello."}]},
]
HEARD = [
    {"role": "user", "text": "Hi.", "ts": 1_785_765_603_000},
    {"role": "assistant", "text": "Hello.", "ts": None},
]


@pytest.mark.registry
def test_the_first_prompt_of_a_session_brings_the_pack_and_each_brings_pointers(gateway: Gateway) -> None:
    commands = {
        "session-start": gateway.command("session-start", '{"prependContext":"pack"}'),
        "user-prompt": gateway.command("user-prompt", '{"prependContext":"pointers"}'),
    }
    event = {"prompt": "history and prompt", "currentUserMessage": "And Ada?", "messages": MESSAGES}
    turn = ("before_prompt_build", event, {"sessionId": "s"})
    beat = ("before_prompt_build", event, {"sessionId": "s", "trigger": "heartbeat"})
    found = gateway.run(commands, turn, turn, beat)
    assert found["answers"] == [{"prependContext": "pack\n\npointers"}, {"prependContext": "pointers"}, None]
    prompt = {"session_id": "s", "prompt": "And Ada?", "messages": HEARD}
    assert gateway.sent() == [("session-start", {"session_id": "s"}), ("user-prompt", prompt), ("user-prompt", prompt)]


@pytest.mark.registry
def test_what_was_said_is_handed_over_when_a_turn_a_context_or_a_session_ends(gateway: Gateway) -> None:
    ends = {"agent_end": "stop", "before_compaction": "pre-compact", "before_reset": "session-end"}
    commands = {event: gateway.command(event, "{}") for event in ends.values()}
    gateway.run(commands, *((name, {"messages": MESSAGES}, {"sessionId": "s"}) for name in ends))
    assert gateway.sent() == [(event, {"session_id": "s", "messages": HEARD}) for event in ends.values()]


@pytest.mark.registry
@pytest.mark.parametrize(
    "command", [[], ["/gone"], [sys.executable, "-c", "print('no json')"], [sys.executable, "-c", "1/0"]]
)
def test_a_command_that_fails_costs_nothing_but_the_context(gateway: Gateway, command: list[str]) -> None:
    event = ("before_prompt_build", {"prompt": "x", "messages": None}, {})
    assert gateway.run({"session-start": command, "user-prompt": command}, event)["answers"] == [None]


def test_the_manifest_names_the_plugin_and_takes_the_configuration_that_is_installed(tmp_path: Path) -> None:
    manifest = json.loads((PLUGIN_DIR / "openclaw.plugin.json").read_text())
    package = json.loads((PLUGIN_DIR / "package.json").read_text())
    assert manifest["id"] == PLUGIN
    assert [(PLUGIN_DIR / entry).is_file() for entry in package["openclaw"]["extensions"]] == [True]
    change = plan_install("openclaw", tmp_path, Bound(tmp_path / "s", tmp_path, "default"))
    entries = parse((change.after or b"").decode(), relaxed=True).plain()["plugins"]["entries"]
    config = entries[manifest["id"]]["config"]
    assert set(config) <= set(manifest["configSchema"]["properties"])
    assert all(isinstance(word, str) for argv in config["commands"].values() for word in argv)
