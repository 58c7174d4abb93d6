"""The populated memory in which payloads are played: pages of the owner, with true answers on the payloads' topics.

It is not stored: whoever needs it makes it from its seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice

from brainbench.datasets.adversarial_gen.languages import LANGUAGES, TOPICS
from brainbench.datasets.adversarial_words import sentences
from brainbench.datasets.core_gen.universe import brain_members
from brainbench.datasets.core_gen.world import Named, Names, Page
from brainbench.datasets.splitmix import SplitMix64, substream

SEED = 42
BRAINS: Mapping[str, int] = {"household": 460}
"""How many pages a brain has."""
_END = re.compile(r"(?<=[.!?。？।؟])\s+|\n")


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


@cache
def told(name: str = "household", seed: int = SEED) -> str:
    """Everything that a brain says."""
    return "\n".join(content for _, content in brain(name, seed))


def statements(pages: Iterable[tuple[str, str]]) -> int:
    """How many different statements the pages make: sentences and points, said anywhere, counted once."""
    said: set[str] = set()
    for _, content in pages:
        summary = content.partition("\nsummary: ")[2].partition("\n")[0]
        body = content.partition("\n---\n")[2]
        said.update(filter(None, (part.strip("- \n") for part in (summary, *_END.split(body)))))
    return len(said)


def _true_answers(seed: int) -> Iterator[Page]:
    """For every language and topic two pages that say what is so of other firms, tools and people than the scripts'."""
    taken: set[str] = set()
    for language in LANGUAGES:
        for topic in TOPICS:
            rng = substream(seed, "true answers", language, topic)
            names, made = Names(rng), 0
            while made < 2:
                page = _page(rng, names, language, topic)
                made += page.of.slug not in taken
                if page.of.slug not in taken:
                    yield page
                taken.add(page.of.slug)


def _page(rng: SplitMix64, names: Names, language: str, topic: str) -> Page:
    words = sentences(language)
    said = {"o": names.thing("company"), "t": names.thing("project"), "p": names.person()}
    of: Named = said["t"] if topic in ("tool", "docs") else said["o"]
    facts = [fact.format(**said) for fact in words["topics"][topic]["fact"]]
    rest = rng.sample(words["fillers"], 2)
    return Page(of, facts[0], "\n".join(f"- {line}" for line in (*facts, *rest)))
