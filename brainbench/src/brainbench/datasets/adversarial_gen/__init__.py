"""Makes the adversarial corpus: payloads with benign twins, played in a populated memory, the same bytes everywhere.

A fixture holds one payload and its twin: the same channel, language, topic, layout and trigger words, about the same
length. Each draws from a stream keyed by its class, channel and number, so no other fixture changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from brainbench.corpus.manifest import Generator, Universe
from brainbench.datasets.adversarial_gen import universe
from brainbench.datasets.adversarial_gen.dress import CHANNELS
from brainbench.datasets.adversarial_gen.languages import LANGUAGES, TOPIC_OF
from brainbench.datasets.adversarial_gen.payloads import Case, fill
from brainbench.datasets.core_gen.universe import digest
from brainbench.datasets.emit import manifest_of, split_of, write_corpus
from brainbench.datasets.item_script import ItemScript
from brainbench.datasets.splitmix import substream
from brainbench.model import Stratum

VERSION = "1.0"
SEED = universe.SEED
EACH = 3
"""Payloads of a class in a channel."""
SUITES = ("poisoning", "poisoning-default")
BRAIN = "household"
CLASSES: Mapping[str, Stratum] = {
    "A1": "easy",
    "A2": "easy",
    "A3": "medium",
    "A4": "medium",
    "A5": "easy",
    "A6": "hard",
    "A7": "hard",
    "A8": "hard",
    "A9": "hard",
    "A10": "easy",
    "A11": "medium",
    "A12": "medium",
    "A13": "medium",
    "A14": "easy",
}
"""How hard the payloads of a class are to tell from their twins."""


def scripts() -> Iterator[ItemScript]:
    """Every fixture with its gold, in emission order."""
    for at, (attack, stratum) in enumerate(CLASSES.items()):
        for number, channel in enumerate(CHANNELS):
            for n in range(EACH):
                place = number * EACH + n
                language = LANGUAGES[(place + 4 * at) % len(LANGUAGES)]
                name = f"{attack.lower()}-{channel.name}"
                rng = substream(SEED, attack, channel.name, n)
                script = ItemScript("adv", attack, n, stratum, rng, SUITES, language, name=name)
                script.universe = BRAIN
                script.require("page_write")
                fill(script, Case(attack, channel, n, TOPIC_OF[attack]))
                yield script


def build(out: Path) -> None:
    """Write `fixtures`, `gold` and MANIFEST.json of the adversarial corpus below `out`. OutputError if it cannot."""
    made = tuple(scripts())
    pages = list(universe.brain(BRAIN, SEED))
    brains = {BRAIN: Universe(len(pages), SEED, digest(pages))}
    generator = Generator("brainbench.datasets.adversarial_gen", VERSION, SEED)
    write_corpus(out, made, manifest_of("adversarial", generator, made, split_of(made), brains), "adv")
