"""LoCoMo's official file, with everything that goes wrong with it."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from brainbench.datasets.locomo import CATEGORIES, read
from brainbench.errors import CorpusError

DATA = Path(os.environ.get("BRAINBENCH_DATA") or Path(__file__).parents[3].parent / "shared" / "data")
HALF = DATA / "locomo" / "locomo10.dev.json"


def said(speaker: str, name: str, text: str, **more: str) -> dict[str, str]:
    return {"speaker": speaker, "dia_id": name, "text": text, **more}


def sample(*qa: dict[str, Any], **changes: Any) -> dict[str, Any]:
    conversation = {
        "speaker_a": "Ines",
        "speaker_b": "Pavel",
        "session_2_date_time": "12:05 am on 5 April, 2024",
        "session_2": [said("Pavel", "D2:1", "The ferry has stopped.")],
        "session_1_date_time": "9:15 am on 1 March, 2024",
        "session_1": [
            said("Ines", "D1:1", "I keep bees."),
            said("Pavel", "D1:2", "Look!", blip_caption="a lighthouse of matches"),
        ],
        "session_3_date_time": "1:05 pm on 2 May, 2024",
        **changes,
    }
    return {"sample_id": "conv-1", "conversation": conversation, "qa": list(qa)}


def asked(category: int, *evidence: str) -> dict[str, Any]:
    return {"question": "Who keeps bees?", "answer": 2022, "evidence": list(evidence), "category": category}


def written(place: Path, *samples: object) -> Path:
    path = place / "locomo.json"
    path.write_text(json.dumps(samples))
    return path


def test_sessions_come_in_their_order_and_a_date_without_a_session_is_none(tmp_path: Path) -> None:
    first, second = read(written(tmp_path, sample())).haystack(0)
    assert [(s.id, s.at) for s in (first, second)] == [("D1", "2024-03-01T09:15:00Z"), ("D2", "2024-04-05T00:05:00Z")]
    assert [(turn.id, turn.role) for turn in first.turns] == [("D1:1", "user"), ("D1:2", "assistant")]
    assert first.turns[1].text == "Pavel: Look! [sends a picture: a lighthouse of matches]"


@pytest.mark.req("E-261")
def test_evidence_in_one_string_is_taken_apart_and_what_names_no_turn_is_told(tmp_path: Path) -> None:
    found = read(written(tmp_path, sample(asked(1, "D1:1; D2:01", "D", "D9:9"), asked(3), asked(4, "D1:2 D1:2"))))
    mixed, empty, once = found.questions
    assert (mixed.turns, mixed.sessions, mixed.user_turns) == (("D1:1", "D2:1"), ("D1", "D2"), ("D1:1",))
    assert mixed.written["evidence_lost"] == ["D", "D9:9"]
    assert empty.turns == ()
    assert once.turns == ("D1:2",)
    assert "names no turn" in found.notes[0]
    assert found.notes[0].endswith(" 2")


@pytest.mark.req("E-261")
def test_the_numbers_of_categories_mean_what_the_evidence_says(tmp_path: Path) -> None:
    found = read(written(tmp_path, sample(*(asked(n, "D1:1") for n in CATEGORIES))))
    assert [q.kind for q in found.questions] == ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]
    assert [q.left_out for q in found.questions] == [None] * 4 + ["adversarial"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"session_1_date_time": "in spring"}, "session_1_date_time"),
        ({"session_2": 3}, "session_2"),
        ({"speaker_a": 3}, "speaker_a"),
    ],
)
def test_a_fault_is_told_by_conversation_and_field(tmp_path: Path, changes: dict[str, object], why: str) -> None:
    with pytest.raises(CorpusError) as raised:
        read(written(tmp_path, sample(), sample(**changes)))
    (fault,) = raised.value.faults
    assert fault.field == "[1].conversation"
    assert why in fault.reason


def test_a_category_that_is_none_and_a_conversation_without_sessions_are_faults(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="6 is not one of 1 to 5"):
        read(written(tmp_path, sample(asked(6, "D1:1"))))
    with pytest.raises(CorpusError, match="speaker_a is missing"):
        read(written(tmp_path, {"sample_id": "x", "conversation": {}, "qa": []}))


@pytest.mark.skipif(not HALF.exists(), reason=f"no LoCoMo half at {HALF}; set BRAINBENCH_DATA")
@pytest.mark.req("E-261")
def test_the_development_half_is_sorted_as_the_names_of_its_categories_say() -> None:
    found = read(HALF)
    kinds = Counter(question.kind for question in found.questions)
    assert kinds == {"multi-hop": 137, "temporal": 170, "open-domain": 50, "single-hop": 381, "adversarial": 212}
    many = Counter(question.kind for question in found.questions if len(question.turns) > 1)
    assert many["multi-hop"] / kinds["multi-hop"] >= 0.9
    assert many["single-hop"] / kinds["single-hop"] <= 0.05
    assert sum(not question.turns for question in found.questions) == 2
