"""Claude Code: the installed prompt hook runs as a process for every turn and its stdout is what the model sees.

The transcript is written as Claude Code writes it, with the hook's real earlier outputs as attachments. A hook that
exits non-zero or prints something other than its one JSON object is an error, never silence.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import uuid
from functools import partial
from pathlib import Path

from brainbench.errors import SystemFailure
from brainbench.model import Ask, Capability, Injection, SeamConfig
from brainbench.seams.reflex import reflex
from brainbench.systems import System
from brainbench.systems.fence import walled_off

_NAMESPACE = uuid.UUID("6a1d1f0e-3c1b-5c55-9d0e-2b7f9a1c4e10")


class ClaudeCode:
    """One session: its transcript file, and the hook that is asked on every prompt."""

    def __init__(self, system: System, seam: SeamConfig) -> None:
        self.system, self.seam = system, seam
        self.transcript: Path | None = None
        self.written = 0

    def ask(self, ask: Ask) -> Injection:
        if Capability.HOOK_PROCESS not in self.system.can:
            return self.system.context(ask) if Capability.CONTEXT in self.system.can else reflex(self.system, ask)
        stdin = self._stdin(ask)
        if self.seam.process:
            stdout = self._run(stdin)
        else:
            stdout = self.system.hook_inproc("claude-code", stdin)
        problem = self.system.hook_problem("claude-code")
        if problem:
            raise SystemFailure(f"the prompt hook said nothing because of an error: {problem}")
        return Injection(additional_context(stdout))

    def close(self) -> None:
        """Remove the transcript of this session."""
        if self.transcript is not None:
            self.transcript.unlink(missing_ok=True)

    def _stdin(self, ask: Ask) -> bytes:
        root = Path(self.system.transcript_root("claude-code")) / "-workspace"
        root.mkdir(parents=True, exist_ok=True)
        session = str(uuid.uuid5(_NAMESPACE, ask.session))
        self.transcript = root / f"{session}.jsonl"
        self.transcript.write_text(transcript(ask, session), encoding="utf-8")
        event = {
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": "/workspace",
            "hook_event_name": "UserPromptSubmit",
            "prompt": ask.messages[-1].text,
        }
        return json.dumps(event).encode()

    def _run(self, stdin: bytes) -> bytes:
        limit = (self.seam.deadline_ms or 10_000) / 1000 + 5
        with tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    list(self.system.hook_command("claude-code")),
                    input=stdin,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=dict(self.system.hook_environment()),
                    timeout=limit,
                    check=False,
                    preexec_fn=partial(walled_off, self.system.inside) if self.system.inside else None,
                )
            except subprocess.TimeoutExpired:
                raise SystemFailure(f"the prompt hook did not end within {limit:.0f} s") from None
            except (OSError, subprocess.SubprocessError) as error:
                raise SystemFailure(f"the prompt hook cannot be started: {error}") from error
        if done.returncode != 0:
            raise SystemFailure(f"the prompt hook exited with {done.returncode}; only 0 lets the prompt through")
        return done.stdout


def additional_context(stdout: bytes) -> str:
    """The text a prompt hook injects; "" for empty stdout. Anything but its one JSON object is a SystemFailure."""
    if not stdout.strip():
        return ""
    try:
        text = json.loads(stdout)["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SystemFailure(f"the prompt hook printed {stdout[:80]!r}, which is not a hook answer") from None
    if not isinstance(text, str):
        raise SystemFailure("the prompt hook's additionalContext is not a text")
    return text


def transcript(ask: Ask, session: str) -> str:
    """The session before this prompt, as JSON lines: turns, each followed by what the hook injected on it."""
    injected = list(ask.injected)
    lines: list[dict[str, object]] = []
    for number, message in enumerate(ask.messages[:-1]):
        common = {"sessionId": session, "cwd": "/workspace", "isSidechain": False, "timestamp": message.ts or ask.now}
        content: object = message.text
        if message.role == "assistant":
            content = [{"type": "text", "text": message.text}]
        body = {"role": message.role, "content": content}
        line_id = str(uuid.uuid5(_NAMESPACE, f"{session}/{number}"))
        lines.append({**common, "type": message.role, "uuid": line_id, "message": body})
    if injected:
        attachment = {"type": "hook_additional_context", "content": injected, "hookEvent": "UserPromptSubmit"}
        lines.append({"type": "attachment", "sessionId": session, "attachment": attachment})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
