"""What stands in a table can be loaded and is described in the reference."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
import pytest

from brainbench.field.row import GROUPS
from brainbench.live.judging import LIVE_METRICS
from brainbench.metrics import METRICS
from brainbench.metrics.ranking import RANKING
from brainbench.model import ITEM_SUITES, SUITE_NAMES, Capability
from brainbench.replay.processes import Bounds
from brainbench.report import failures
from brainbench.seams import SEAMS, load_codec
from brainbench.suites import SUITES
from brainbench.systems import BREAKS, SYSTEMS, System, load_system
from brainbench.systems.wire import METHODS, MOST_ANSWER_BYTES
from wellkept.hooks import DEADLINES_MS
from wellkept.recall import DEGRADED
from wellkept.settings import load_settings
from wellkept.storage import STORES
from wellkept.verbs import VERBS

TABLES = {
    "metrics.md": METRICS,
    "live.md": [*LIVE_METRICS, "Tools"],
    "retrieval.md": RANKING,
    "suites.md": SUITES,
    "field.md": [f"{group}: {title}" for group, title in GROUPS.items()],
    "seams.md": SEAMS,
    "systems.md": SYSTEMS,
    "stores.md": STORES,
    "verbs.md": [*VERBS, "Errors"],
}


@pytest.mark.parametrize("page", TABLES)
def test_every_entry_has_its_heading_and_every_heading_an_entry(root, page):
    text = (root / "docs" / "reference" / page).read_text()
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(TABLES[page])


@pytest.mark.req("C-601")
def test_the_reference_pages_are_what_the_tables_say(generator):
    assert generator.stale() == []


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_loads_and_carries_its_name(name):
    system = load_system(name)
    assert isinstance(system, System)
    assert system.name == name


@pytest.mark.parametrize("name", SEAMS)
def test_a_seam_loads_its_codec(name):
    assert callable(load_codec(SEAMS[name]))
    assert SEAMS[name].name == name


@pytest.mark.parametrize("name", STORES)
def test_a_store_resolves(name):
    module, _, attribute = STORES[name].partition(":")
    assert callable(getattr(import_module(module), attribute))


def test_fixtures_may_declare_every_suite_and_no_other():
    assert tuple(SUITES) == SUITE_NAMES


def test_failed_items_of_every_suite_can_be_told():
    assert {*failures.TOLD, *ITEM_SUITES} == set(SUITES)


def test_a_metric_belongs_to_a_suite_and_is_named_as_in_the_table():
    assert {name for name, metric in METRICS.items() if metric.name != name} == set()
    assert {metric.suite for metric in METRICS.values()} <= {*SUITES, "every", "extraction"}
    of_a_model = {name for name, metric in METRICS.items() if metric.suite == "extraction"}
    assert {name for suite in SUITES.values() for name in suite.metrics} == set(METRICS) - of_a_model


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_loads_around_a_system(name):
    assert isinstance(load_system(f"{name}:null"), System)


def test_the_protocol_page_has_every_method_with_its_capability_and_what_is_sent(root):
    text = (root / "docs" / "reference" / "protocol.md").read_text()
    asked = {
        name: ", ".join(
            [f"`{method.capability}`"] * (method.capability is not None)
            + ["listed in `also`"] * method.optional
            + ["hosted"] * method.hosted
        )
        or "always"
        for name, method in METHODS.items()
    }
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| `(\w+)` \| ", text, re.MULTILINE)
    assert rows == [(name, asked[name], method.params.__name__) for name, method in METHODS.items()]
    assert f"at most {MOST_ANSWER_BYTES:,} bytes" in text
    assert f"More than {Bounds().processes} processes" in text


def test_the_how_to_says_of_every_capability_what_it_brings(root):
    page = (root / "docs" / "how-to" / "measure-your-memory.md").read_text()
    first_cells = re.findall(r"^\| (`.+?`) \| ", page, re.MULTILINE)
    named = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(Capability)


@pytest.mark.parametrize("package", ["brainbench", "wellkept"])
def test_every_command_has_a_heading(root, package):
    headings = re.findall(r"^## (.+)$", (root / "docs" / "reference" / "cli.md").read_text(), re.MULTILINE)
    command = import_module(f"{package}.cli").main
    context = click.Context(command, info_name=package)
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    shown = [n for n in names if not command.get_command(context, n).hidden]
    assert {package, *(f"{package} {name}" for name in shown)} <= set(headings)


def test_every_code_of_what_could_not_run_stands_in_the_reference() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "wellkept.md").read_text(encoding="utf-8")
    assert [code for code in DEGRADED if f"`{code}`" not in page] == []


def test_the_documented_times_are_those_that_hooks_have(root) -> None:
    page = (root / "docs" / "how-to" / "install-in-your-harness.md").read_text(encoding="utf-8")
    session, prompt, capture = (line for line in page.splitlines() if line.startswith("| a ") and " s" in line)
    seconds = {event: f"{ms / 1000:g} s" for event, ms in DEADLINES_MS.items()}
    daemon = f"{load_settings({'HOME': '/nowhere'}, {'data_dir': '/nowhere'}).budget_ms / 1000:g} s"
    assert session.endswith(f"| {seconds['session-start']}, waiting for the daemon only when there is none |")
    assert prompt.endswith(f"| {seconds['user-prompt']}, of which the daemon takes at most {daemon} |")
    assert capture.endswith(f"| {seconds['stop']} (a session's end: {seconds['session-end']}) |")
