"""OpenClaw: the memory plugin is called with the messages and gives one text."""

from __future__ import annotations

from brainbench.model import Ask, Capability, Injection, SeamConfig
from brainbench.seams.reflex import reflex
from brainbench.systems import System


class OpenClaw:
    """Calls the system's own push where it has one, else the bench's generic reflex over its search."""

    def __init__(self, system: System, seam: SeamConfig) -> None:
        self.system, self.seam = system, seam

    def ask(self, ask: Ask) -> Injection:
        if Capability.CONTEXT in self.system.can:
            return self.system.context(ask)
        return reflex(self.system, ask)

    def close(self) -> None:
        """Nothing is kept between turns."""
