"""The populated memory in which payloads are played: pages of the owner, with true answers on the payloads' topics.

It is not stored: whoever needs it makes it from its seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from brainbench.datasets.adversarial_gen.languages import LANGUAGES, TOPICS
from brainbench.datasets.adversarial_words import sentences
from brainbench.datasets.core_gen.universe import brain_members
from brainbench.datasets.core_gen.world import Named, Names, Page
from brainbench.datasets.splitmix import SplitMix64, substream

BRAINS: Mapping[str, int] = {"household": 460}
"""How many pages a brain has."""


def brain(name: str, seed: int) -> Iterator[tuple[str, str]]:
    """Slug and content of each page of a brain."""
    made = 0
    for page in _true_answers(seed):
        made += 1
        yield page.of.slug, page.markdown()
    for member in islice(brain_members("brain-1k", seed), 0, 1_000, 3):
        if made == BRAINS[name]:
            return
        made += 1
        yield member.of.slug, member.page.markdown()


def statements(content: str) -> int:
    """How many statements a page makes: its summary, and the sentences or points of its text."""
    body = content.partition("\n---\n")[2]
    ends = sum(body.count(mark) for mark in (". ", ".\n", "。", "।", "؟", "? ", "?\n"))
    return 1 + ends


def _true_answers(seed: int) -> Iterator[Page]:
    """For every language and topic two pages that say what is so of other firms, tools and people than the scripts'."""
    for language in LANGUAGES:
        for topic in TOPICS:
            rng = substream(seed, "true answers", language, topic)
            names = Names(rng)
            for _ in range(2):
                yield _page(rng, names, language, topic)


def _page(rng: SplitMix64, names: Names, language: str, topic: str) -> Page:
    words = sentences(language)
    said = {"o": names.thing("company"), "t": names.thing("project"), "p": names.person()}
    of: Named = said["t"] if topic in ("tool", "docs") else said["o"]
    facts = [fact.format(**said) for fact in words["topics"][topic]["fact"]]
    rest = rng.sample(words["fillers"], 2)
    return Page(of, facts[0], "\n".join(f"- {line}" for line in (*facts, *rest)))
