"""No harness: the turn's text goes to search, as an application would do it."""

from __future__ import annotations

from brainbench.model import Ask, Capability, Injection, SeamConfig
from brainbench.systems import System


class Direct:
    """The best pages for the turn, up to the page budget. A system without search is silent here."""

    def __init__(self, system: System, seam: SeamConfig) -> None:
        self.system, self.seam = system, seam

    def ask(self, ask: Ask) -> Injection:
        if Capability.SEARCH not in self.system.can:
            return Injection("", ids=())
        hits = list(self.system.search(ask.source, ask.messages[-1].text, ask.budget.pages))[: ask.budget.pages]
        return Injection("\n\n".join(hit.text for hit in hits), ids=tuple(hit.id for hit in hits))

    def close(self) -> None:
        """Nothing is kept between turns."""
