"""The trust corpus is what its generator makes, and its check sees every promise broken."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from brainbench import corpus, gold
from brainbench.datasets import DATASETS, trust_gen
from brainbench.datasets.core_gen.world import Page
from brainbench.datasets.splitmix import substream
from brainbench.datasets.trust_gen import check
from brainbench.datasets.trust_gen.cast import cast
from brainbench.datasets.trust_words import subjects

TRUST = Path(__file__).parents[3] / "corpus" / "trust"


def changed(tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the corpus in which the gold of one script is changed, as its manifest says too."""
    copy = tmp_path / "copy"
    shutil.copytree(TRUST, copy)
    path = copy / "gold" / f"{name}.gold.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    gold.write_manifest(copy, corpus.read_manifest(copy))
    return copy


def reasons(directory: Path) -> str:
    return "\n".join(map(str, check.inspect(directory).faults))


@pytest.mark.req("C-207", "C-001")
def test_a_rebuild_gives_the_committed_bytes(tmp_path: Path) -> None:
    trust_gen.build(tmp_path)
    paths = list(tmp_path.rglob("*.json"))
    assert len(paths) == len(list(TRUST.rglob("*.json"))) == 401
    for path in paths:
        assert path.read_bytes() == (TRUST / path.relative_to(tmp_path)).read_bytes(), path.name


@pytest.mark.req("T-804")
def test_the_check_finds_nothing_wrong_and_every_metric_has_items() -> None:
    report = check.inspect(TRUST)
    assert report.faults == ()
    assert report.lines[0] == "200 scripts, 28 held out; 34 cases of the specification"
    assert {line.partition(":")[0] for line in report.lines} >= set(check.KINDS)


@pytest.mark.req("T-1301")
def test_a_case_has_three_to_six_scripts_on_different_matters() -> None:
    spoken: dict[str, Counter[str]] = {}
    for script in trust_gen.scripts():
        spoken.setdefault(script.category, Counter())[script.language] += 1
    assert all(3 <= said.total() <= 6 and len(said) >= 3 for said in spoken.values())


def test_another_case_moves_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {script.fixture_id: script.fixture() for script in trust_gen.scripts()}
    extra = trust_gen.Case("extra", trust_gen.tiers.doors, ("trust",), "easy")
    monkeypatch.setattr(trust_gen, "CASES", (*trust_gen.CASES, extra))
    after = {script.fixture_id: script.fixture() for script in trust_gen.scripts()}
    assert len(after) == len(before) + 4
    assert {name: after[name] for name in before} == before


@pytest.mark.req("T-1301")
def test_the_readme_names_every_case_of_the_specification_as_played_or_not() -> None:
    text = (TRUST / "README.md").read_text(encoding="utf-8")
    played = {case.case for case in trust_gen.CASES if case.case}
    for number in range(1, 60):
        name = f"TC-{number:02d}"
        assert name in text, name
    told = text.partition("## Not played here")[2]
    assert not {name for name in played if f"| {name} " in told}


@pytest.mark.parametrize("at", range(len(subjects())))
def test_a_subject_matter_says_everything_that_a_script_needs(at: int) -> None:
    about = cast(substream(1, "test", at), at)
    assert len(set(about.values)) == 3
    for how in ("say", "other", "digest", "urge"):
        said = [about.say(value, how) for value in range(3)]
        assert len(set(said)) == 3
        assert all(value in line for value, line in zip(about.values, said, strict=True))
    assert len({about.near(n) for n in range(3)}) == 3
    assert not any(value in about.ask for value in about.values)
    assert isinstance(about.page(about.say()), Page)


def test_the_data_set_table_leads_to_the_generator() -> None:
    module, _, function = DATASETS["trust"].partition(":")
    assert getattr(import_module(module), function) is trust_gen.build


def test_a_claim_that_nobody_said_before_its_purge_is_seen(tmp_path: Path) -> None:
    def other(value: dict[str, Any]) -> None:
        value["items"][0]["forms"].append("a claim that nobody made")

    found = reasons(changed(tmp_path, "trust-fence-000", other))
    assert "nothing said 'a claim that nobody made' before it was purged" in found


def test_a_purge_that_is_an_expiry_is_seen(tmp_path: Path) -> None:
    def other(value: dict[str, Any]) -> None:
        value["items"][0]["event"] = 2

    assert "is of no purge that the owner vouched for" in reasons(
        changed(tmp_path, "trust-expired-then-purged-000", other)
    )


def test_a_form_that_its_thing_does_not_say_is_seen(tmp_path: Path) -> None:
    def other(value: dict[str, Any]) -> None:
        value["items"][0]["forms"] = ["something else"]

    assert "does not say 'something else'" in reasons(changed(tmp_path, "trust-replaced-000", other))


def test_a_text_that_no_event_says_is_seen(tmp_path: Path) -> None:
    def other(value: dict[str, Any]) -> None:
        value["items"][1]["text"] = "not a word of it"

    assert "no event says 'not a word of it'" in reasons(changed(tmp_path, "trust-web-workflow-000", other))


def test_a_suite_without_an_item_is_seen(tmp_path: Path) -> None:
    def fewer(value: dict[str, Any]) -> None:
        value["items"] = [item for item in value["items"] if item["item"] != "current"]

    assert "declares state-resolution, deletion, and its items are judged by deletion" in reasons(
        changed(tmp_path, "trust-lifted-000", fewer)
    )
