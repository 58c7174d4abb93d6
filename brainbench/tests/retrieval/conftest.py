"""Small sets in the official formats, and memories that are asked about them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TOPICS = ("kiln", "dinghy", "starter", "choir", "beehive", "ferry")


def turn(role: str, text: str, answers: bool | None = None) -> dict[str, Any]:
    return {"role": role, "content": text} | ({} if answers is None else {"has_answer": answers})


def item(number: int, gold: tuple[int, ...] = (0,), kind: str = "single-session-user", **changes: Any) -> Any:
    """A question whose words stand in its gold sessions; every session has its own topic and date."""
    topic = TOPICS[gold[0]]
    sessions = [
        [turn("user", f"The {name} is fine, {n}.", n in gold), turn("assistant", f"Good to hear, {n}.", False)]
        for n, name in enumerate(TOPICS)
    ]
    names = [f"answer_{number}_{n}" if n in gold else f"plain_{number}_{n}" for n in range(len(TOPICS))]
    return {
        "question_id": f"secret-{number}",
        "question_type": kind,
        "question": f"How is the {topic}?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "fine",
        "answer_session_ids": [names[n] for n in gold],
        "haystack_dates": [f"2023/05/2{9 - n} (Mon) 08:00" for n in range(len(TOPICS))],
        "haystack_session_ids": names,
        "haystack_sessions": sessions,
        **changes,
    }


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Writes items as a file."""

    def write(*items: dict[str, Any]) -> Path:
        path = tmp_path / "set.json"
        path.write_text(json.dumps(items))
        return path

    return write


@pytest.fixture(autouse=True)
def _importable_by_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    sys.modules.pop("asked_memories", None)
