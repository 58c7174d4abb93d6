"""Corpora as fixtures and gold: those made here, and outside ones translated."""

from __future__ import annotations

from collections.abc import Mapping

DATASETS: Mapping[str, str] = {
    "core": "brainbench.datasets.core_gen:build",
}
"""What can be made: name -> `module:function`, a function that takes the directory to write and returns None."""
