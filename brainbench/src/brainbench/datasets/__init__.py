"""Corpora as fixtures and gold: those made here, and outside ones translated."""

from __future__ import annotations

from collections.abc import Mapping

DATASETS: Mapping[str, str] = {
    "core": "brainbench.datasets.core_gen:build",
    "pocket": "brainbench.datasets.core_gen:build_pocket",
    "adversarial": "brainbench.datasets.adversarial_gen:build",
    "trust": "brainbench.datasets.trust_gen:build",
}
"""What can be made: name -> `module:function`, a function that takes the directory to write and returns None."""
BRAIN_MAKERS: Mapping[str, str] = {
    "brainbench.datasets.core_gen": "brainbench.datasets.core_gen.universe:brain",
    "brainbench.datasets.adversarial_gen": "brainbench.datasets.adversarial_gen.universe:brain",
}
"""What makes large brains: the generator that MANIFEST.json names -> `module:function`, from name and seed to pages."""
