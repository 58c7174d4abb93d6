"""Pages that a turn needs and shares hardly a word with."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnxruntime import InferenceSession  # type: ignore[import-untyped, unused-ignore]

from wellkept.errors import ModelUnavailable, NotCalibrated
from wellkept.memory import Memory
from wellkept.model import Message, Trust
from wellkept.providers import Embedder, EmbedderId, embedders
from wellkept.providers.embedders import PACKAGED, packaged
from wellkept.recall import OFF, meaning, turn_pointers
from wellkept.recall.embedding import embed_waiting
from wellkept.settings import Settings
from wellkept.storage import Store

NEED = Path(__file__).parent.parent / "data" / "need"
sys.path.insert(0, str(NEED))
import nearness  # type: ignore[import-not-found]  # noqa: E402

Write = Callable[..., None]
HEATER = "the radiators are stone cold, where did we put that thing for getting heat again?"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    found = packaged()
    assert found is not None
    found.embed(["loaded"])
    return found


@pytest.fixture
def house(write: Write) -> None:
    write(
        "notes/boiler",
        "Boiler",
        kind="note",
        summary="Restart switch behind the mirror",
        body="The restart switch is behind the mirror in room 3. Warranty until 2031.",
    )
    write(
        "decisions/no-pets", "Pets", kind="decision", body="Dogs may stay in the garden room only, for twelve a night."
    )
    write(
        "people/cosmo", "Cosmo Threlfall", body="Cosmo picks up the linen on Tuesdays and brings it back on Thursday."
    )
    write("notes/bread", "Breakfast", kind="note", body="Served from half past seven, eggs to order.")


Brought = Callable[..., tuple[list[tuple[str, str]], tuple[str, ...]]]


@pytest.fixture
def brought(store: Store, embedder: Embedder) -> Brought:
    """What one turn brings, as slug and arm, once all that is kept has its vector; and what was degraded."""

    def said(text: str, prior: str = "", off: Sequence[str] = ()) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
        embed_waiting(store, embedder)
        found, degraded = turn_pointers(store, "default", text, prior=prior, arms_off=off, embedder=lambda: embedder)
        return [(pointer.slug, pointer.arm) for pointer in found], degraded

    return said


@pytest.mark.req("C-334")
@pytest.mark.usefixtures("house")
@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (HEATER, "notes/boiler"),
        (
            "a lady has a labrador and wants to know what our rule about animals is, may it sleep here with her?",
            "decisions/no-pets",
        ),
        ("we are out of clean sheets!! when do our fresh ones come back?", "people/cosmo"),
    ],
)
def test_a_question_brings_the_page_that_answers_it_in_other_words(brought: Brought, text: str, slug: str) -> None:
    assert brought(text) == ([(slug, "semantic")], ())
    assert brought(text, off=["semantic"]) == ([], ())


@pytest.mark.req("C-334")
@pytest.mark.usefixtures("house")
@pytest.mark.parametrize(
    "text",
    [
        "the radiators are stone cold, brr",
        "how does a heating system in a house work in general?",
        "write a poem about a labrador",
        "a labrador is such a lovely hound haha",
        "translate 'fresh sheets' into dutch",
        "what do hotels do when Ophelia Brandt brings her labrador?",
    ],
)
def test_talk_that_is_as_near_and_asks_nothing_of_memory_brings_nothing(brought: Brought, text: str) -> None:
    assert brought(text) == ([], ())


@pytest.mark.usefixtures("house")
def test_without_the_judgement_of_need_nearness_would_fire(store: Store, embedder: Embedder) -> None:
    embed_waiting(store, embedder)
    quiet = "a labrador is such a lovely hound haha"
    near, _ = meaning.look(store, "default", quiet, embedder.embed([quiet])[0])
    assert near is not None
    assert near.page.slug == "decisions/no-pets"
    assert near.evidence["margin"] > 1
    assert near.evidence["asks"] == 0


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize("text", ["где у нас та штука для отопления?", "πού βάλαμε το πράγμα για τη θέρμανση;"])
def test_a_script_that_the_model_does_not_read_brings_nothing(store: Store, brought: Brought, text: str) -> None:
    assert brought(text) == ([], ())
    assert meaning.look(store, "default", text, np.ones(384, np.float32)) == (None, ())


@pytest.mark.usefixtures("house")
def test_a_page_that_was_shown_makes_no_room_for_the_second_best(brought: Brought) -> None:
    assert brought(HEATER, prior="→ `notes/boiler`") == ([], ())


@pytest.mark.usefixtures("house")
def test_words_go_before_meaning(brought: Brought) -> None:
    assert brought("where did we hide the restart switch, behind which mirror was it?") == (
        [("notes/boiler", "topic")],
        (),
    )


@pytest.mark.req("C-330")
def test_only_live_pages_of_the_source_that_its_owner_or_agent_wrote_count(
    write: Write, brought: Brought, store: Store
) -> None:
    said = {"kind": "note", "body": "The restart switch of the boiler is behind the mirror."}
    write("notes/other", "Boiler", source="elsewhere", **said)
    write("notes/old", "Boiler", status="superseded", **said)
    write("web/boiler", "Boiler", trust=Trust.EXTERNAL_UNTRUSTED, **said)
    Memory(store).bank("default", "s", [Message("user", "the restart switch of our boiler is behind the mirror")])
    assert brought(HEATER) == ([], ())
    write("notes/ours", "Boiler", **said)
    assert [slug for slug, _ in brought(HEATER)[0]] == ["notes/ours"]


# -- without a model or vectors it is silent, and says so


class Unloaded:
    """An embedder that must not be asked: loading it would take longer than a prompt may wait."""

    id = PACKAGED
    ready = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("a turn waited for a model")


class Failing(Unloaded):
    ready = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailable("here", "it broke")


class Other(Unloaded):
    id = EmbedderId("other", 384)
    ready = True


def codes(store: Store, embedder: Embedder | None) -> tuple[str, ...]:
    found, degraded = turn_pointers(store, "default", HEATER, prior="", embedder=lambda: embedder)
    assert found == ()
    return degraded


@pytest.mark.req("C-330")
@pytest.mark.req("C-334")
@pytest.mark.usefixtures("house")
def test_it_says_why_it_is_silent(store: Store, embedder: Embedder, write: Write) -> None:
    assert codes(store, None) == ("semantic:no_embedder",)
    assert codes(store, embedder) == ("semantic:vectors_pending",)
    embed_waiting(store, embedder)
    assert codes(store, Unloaded()) == ("semantic:embedder_loading",)
    assert codes(store, Failing()) == ("semantic:embedder_failed",)
    assert codes(store, Other()) == ("semantic:embedder_mismatch",)
    write("notes/new", "Something new", kind="note")
    found, degraded = turn_pointers(store, "default", HEATER, prior="", embedder=lambda: embedder)
    assert [pointer.slug for pointer in found] == ["notes/boiler"]
    assert degraded == ("semantic:vectors_pending",)


@pytest.mark.req("C-334")
@pytest.mark.usefixtures("house")
def test_vectors_of_a_model_for_which_nothing_is_calibrated_bring_nothing(store: Store) -> None:
    store.index.put_vectors(Other.id, [1], np.ones((1, 384), np.float32))
    assert codes(store, Other()) == ("semantic:not_calibrated",)


@pytest.mark.req("C-334")
def test_a_calibration_is_refused_for_another_embedder() -> None:
    calibration = meaning.shipped()
    assert calibration is not None
    calibration.check(PACKAGED)
    with pytest.raises(NotCalibrated, match=r"with all-MiniLM-L6-v2-int8 \(384 numbers\) only.*embedder is other"):
        calibration.check(EmbedderId("other", 384))
    with pytest.raises(NotCalibrated, match="256 numbers"):
        calibration.check(replace(PACKAGED, dimension=256))


@pytest.mark.usefixtures("house")
def test_without_a_calibration_the_arm_is_off(
    store: Store, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed_waiting(store, embedder)
    monkeypatch.setattr(meaning, "shipped", lambda: None)
    assert codes(store, embedder) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("", "is no calibration"),
        ("[]", "is no calibration"),
        ({"schema_version": 2}, "schema 2 is not 1. Install a newer wellkept"),
        ({"weights": {"always": 1.0}}, "names of the weights"),
        ({"least": 0.1}, "least"),
        ({"dimension": "many"}, "is no calibration"),
    ],
)
def test_what_is_no_calibration_is_refused(change: str | dict[str, object], message: str) -> None:
    text = change if isinstance(change, str) else json.dumps(shipped_file() | change)
    with pytest.raises(NotCalibrated, match=message):
        meaning.read_calibration(text, "semantic.json")


@pytest.mark.usefixtures("house")
def test_a_memory_loads_its_model_in_the_background_and_not_on_a_turn(store: Store, embedder: Embedder) -> None:
    embed_waiting(store, embedder)
    asked = [Message("user", HEATER)]
    cold = packaged()
    assert cold is not None
    memory = Memory(store, embedder=lambda: cold, arms_off=())
    assert memory.context("default", asked).degraded == ("semantic:no_embedder",)
    memory.embed_in_background()
    assert memory.context("default", asked).degraded == ("semantic:embedder_loading",)
    assert not cold.ready
    cold.embed(["loaded"])
    assert [(one.slug, one.arm) for one in memory.context("default", asked).pointers] == [("notes/boiler", "semantic")]


def test_the_background_loads_a_model_that_is_wanted_though_nothing_waits(store: Store) -> None:
    from wellkept.recall.embedding import Background

    cold = packaged()
    assert cold is not None
    background = Background(store, cold, start_s=0.0)
    background.load()
    background.start()
    for _ in range(600):
        if cold.ready:
            break
        background._stopping.wait(0.1)
    assert background.stop(30)
    assert cold.ready


# -- the conversations that the calibration comes from


def shipped_file() -> dict[str, object]:
    said: dict[str, object] = json.loads(nearness.CALIBRATION.read_text(encoding="utf-8"))
    return said


@pytest.fixture(scope="module")
def seen(embedder: Embedder) -> tuple[list[nearness.Turn], list[nearness.Turn]]:
    if not embedders._multiplies_exactly(lambda model: InferenceSession(model, providers=["CPUExecutionProvider"])):
        pytest.skip("this processor rounds products of bytes; the calibration is made where none does")
    fit, kept = nearness.every(embedder)
    return fit, kept


@pytest.mark.slow
@pytest.mark.req("C-334")
@pytest.mark.req("C-335")
def test_the_calibration_is_what_the_conversations_give(
    seen: tuple[list[nearness.Turn], list[nearness.Turn]],
) -> None:
    calibration = meaning.shipped()
    assert calibration is not None
    assert nearness.fitted(seen[0]) == pytest.approx(dict(calibration.weights), abs=0.05)


@pytest.mark.slow
@pytest.mark.req("C-335")
def test_the_receipt_says_what_the_arm_does(seen: tuple[list[nearness.Turn], list[nearness.Turn]]) -> None:
    calibration = meaning.shipped()
    assert calibration is not None
    said = json.loads((NEED / "semantic.json").read_text(encoding="utf-8"))
    assert nearness.receipt(*seen, calibration) == said["conversations"]


def holds(runs: Sequence[dict[str, Any]]) -> bool:
    """Whether runs of both corpora show recall gained, and at no seam and in no stratum a loss."""
    pairs = [(seam["off"], seam["on"]) for run in runs for seam in run["counts"].values()]
    return (
        {run["corpus"] for run in runs} >= {"core", "pocket"}
        and all(
            on["missed"][0] <= off["missed"][0]
            and on["false_fires"][0] <= off["false_fires"][0]
            and on["precision"][0] * off["precision"][1] >= off["precision"][0] * on["precision"][1]
            for off, on in pairs
        )
        and any(on["missed"][0] < off["missed"][0] for off, on in pairs)
    )


@pytest.mark.req("C-335")
def test_the_arm_is_on_by_default_only_where_its_receipt_shows_a_gain_and_no_loss(tmp_path: Path) -> None:
    said = json.loads((NEED / "semantic.json").read_text(encoding="utf-8"))
    assert ("semantic" not in OFF) == holds(said["on_and_off"])
    assert Settings(tmp_path, tmp_path / "s").arms_off == OFF


def test_a_receipt_with_a_loss_or_without_a_corpus_holds_nothing() -> None:
    off = {"missed": [6, 81], "false_fires": [0, 84], "precision": [85, 86]}
    on = {"missed": [4, 81], "false_fires": [0, 84], "precision": [87, 88]}

    def runs(on: dict[str, list[int]], *corpora: str) -> list[dict[str, Any]]:
        return [{"corpus": name, "counts": {"openclaw/all": {"off": off, "on": on}}} for name in corpora]

    assert holds(runs(on, "core", "pocket"))
    assert not holds(runs(on, "pocket"))
    assert not holds(runs(off, "core", "pocket"))
    for loss in ({"false_fires": [1, 84]}, {"precision": [86, 88]}, {"missed": [7, 81]}):
        assert not holds(runs(on | loss, "core", "pocket"))


def test_worlds_kept_out_are_in_no_fit() -> None:
    fitted = {
        world.name for world in [*nearness.measure.worlds(), *nearness.measure.worlds(NEED / "meaning", "fit.txt")]
    }
    kept = {world.name for world in nearness.measure.worlds(NEED / "meaning", "kept.txt")}
    assert kept
    assert not fitted & kept
