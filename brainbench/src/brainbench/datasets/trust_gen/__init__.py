"""Makes the trust corpus: scripts about tiers, state and forgetting, and what must be so, the same bytes everywhere.

A case is a function that fills a script about the cast it is given. To add one write the function and a line at the end
of CASES; each script draws from a stream of its own, so no other fixture changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from brainbench.corpus.manifest import Generator
from brainbench.datasets.emit import manifest_of, split_of, write_corpus
from brainbench.datasets.item_script import ItemScript
from brainbench.datasets.splitmix import substream
from brainbench.datasets.trust_gen import deletion, state, tiers
from brainbench.datasets.trust_gen.cast import Cast, cast
from brainbench.model import Stratum

VERSION = "1.0"
SEED = 42
TRUST, STATE, FORGOTTEN = "trust", "state-resolution", "deletion"


@dataclass(frozen=True, slots=True)
class Case:
    """A family of scripts: the case of the specification that it plays ("" for one of our own), and how often."""

    name: str
    fill: Callable[[ItemScript, Cast], None]
    suites: tuple[str, ...]
    stratum: Stratum
    case: str = ""
    count: int = 4
    requires: tuple[str, ...] = ()


CASES: tuple[Case, ...] = (
    Case("fence", deletion.fence, (FORGOTTEN,), "hard", "TC-01"),
    Case("stale-checkout", deletion.stale_checkout, (FORGOTTEN,), "medium", "TC-02"),
    Case("transcript", deletion.transcript, (FORGOTTEN,), "medium", "TC-03"),
    Case("backup", deletion.backup, (FORGOTTEN,), "medium", "TC-04"),
    Case("peer", deletion.peer, (FORGOTTEN,), "medium", "TC-05"),
    Case("near-duplicates", deletion.near_duplicates, (FORGOTTEN,), "hard", "TC-06"),
    Case("parroted", deletion.parroted, (FORGOTTEN,), "hard", "TC-07"),
    Case("lifted", deletion.lifted, (FORGOTTEN, STATE), "medium", "TC-08"),
    Case("everywhere", deletion.everywhere, (FORGOTTEN,), "easy", "TC-11"),
    Case("crashed", deletion.crashed, (FORGOTTEN,), "hard", "TC-13"),
    Case("summary", deletion.summary, (FORGOTTEN,), "hard", "TC-15"),
    Case("web-workflow", tiers.web_workflow, (TRUST,), "medium", "TC-19"),
    Case("tidied", tiers.tidied, (TRUST,), "medium", "TC-21"),
    Case("claims-for-itself", tiers.claims_for_itself, (TRUST,), "easy", "TC-22"),
    Case("echoed", tiers.echoed, (TRUST,), "hard", "TC-23"),
    Case("over-the-owners", tiers.over_the_owners, (TRUST,), "medium", "TC-24"),
    Case("edited-export", tiers.edited_export, (TRUST,), "medium", "TC-25"),
    Case("agent-confirms", tiers.agent_confirms, (TRUST,), "easy", "TC-26"),
    Case("foreign-update", tiers.foreign_update, (TRUST,), "medium", "TC-27"),
    Case("without-triggers", tiers.without_triggers, (TRUST,), "hard", "TC-28"),
    Case("confirmed-and-edited", tiers.confirmed_and_edited, (TRUST, STATE), "medium", "TC-30"),
    Case("many-voices", tiers.many_voices, (TRUST,), "medium", "TC-36"),
    Case("found-by-its-title", tiers.found_by_its_title, (TRUST,), "medium", "TC-40"),
    Case("row-in-an-owners-page", tiers.row_in_an_owners_page, (TRUST,), "hard", "TC-41"),
    Case("replaced", state.replaced, (STATE,), "easy", "TC-42"),
    Case("reworded", state.reworded, (STATE,), "hard", "TC-43", requires=("supersede",)),
    Case("four-records", state.four_records, (STATE,), "hard", "TC-44", requires=("supersede",)),
    Case("agent-replaces", state.agent_replaces, (STATE,), "easy", "TC-45", requires=("principals",)),
    Case("connector-closes", state.connector_closes, (STATE,), "medium", "TC-45", requires=("principals",)),
    Case("there-and-back", state.there_and_back, (STATE,), "medium", "TC-46", requires=("as_of",)),
    Case("at-once", state.at_once, (STATE,), "medium", "TC-47"),
    Case("corrected", state.corrected, (STATE,), "hard", "TC-48", requires=("as_of", "history")),
    Case("again", state.again, (STATE,), "medium", "TC-49"),
    Case("two-sources", state.two_sources, (STATE,), "easy", "TC-51", requires=("sources",)),
    Case("alike-scopes", state.alike_scopes, (STATE,), "medium", "TC-59", count=6, requires=("sources",)),
    Case("doors", tiers.doors, (TRUST,), "easy", count=6),
    Case("shell", tiers.shell, (TRUST,), "easy"),
    Case("said-by-a-user", tiers.said_by_a_user, (TRUST,), "easy"),
    Case("wrong-passphrase", tiers.wrong_passphrase, (TRUST,), "easy"),
    Case("pushed-by-a-peer", tiers.pushed_by_a_peer, (TRUST,), "medium"),
    Case("copied", tiers.copied, (TRUST,), "medium"),
    Case("agent-forgets", state.agent_forgets, (STATE,), "easy", requires=("principals",)),
    Case("agent-same-slot", state.agent_same_slot, (STATE,), "medium", requires=("principals",)),
    Case("of-later", state.of_later, (STATE,), "hard", requires=("as_of",)),
    Case("told-twice", state.told_twice, (STATE,), "medium", requires=("principals",)),
    Case("not-lifted", deletion.not_lifted, (FORGOTTEN,), "medium"),
    Case("expired-then-purged", deletion.expired_only, (FORGOTTEN,), "easy"),
    Case("superseded-then-purged", deletion.superseded, (FORGOTTEN, STATE), "medium"),
    Case("edited-away", deletion.edited_away, (FORGOTTEN,), "hard"),
)


def scripts() -> Iterator[ItemScript]:
    """Every fixture with its gold, in emission order."""
    for at, case in enumerate(CASES):
        for index in range(case.count):
            rng = substream(SEED, case.name, index)
            script = ItemScript("trust", case.name, index, case.stratum, rng, case.suites)
            about = cast(rng, at + 5 * index)
            script.language = about.language
            script.tags = (case.case,) if case.case else ()
            script.require(*_needs(case))
            case.fill(script, about)
            yield script


def _needs(case: Case) -> tuple[str, ...]:
    """What every script of these suites needs, and the case besides."""
    by_suite = {TRUST: ("trust_labels", "principals"), STATE: (), FORGOTTEN: ("purge",)}
    return tuple(need for suite in case.suites for need in by_suite[suite]) + case.requires


def build(out: Path) -> None:
    """Write `fixtures`, `gold` and MANIFEST.json of the trust corpus below `out`. OutputError if it cannot."""
    made = tuple(scripts())
    generator = Generator("brainbench.datasets.trust_gen", VERSION, SEED)
    write_corpus(out, made, manifest_of("trust", generator, made, split_of(made), {}), "trust")
