"""Loads the packages under test first, or pytest takes the folders `wellkept/` and `brainbench/` for them."""

from contextlib import suppress
from importlib import import_module

for package in ("brainbench", "wellkept"):
    with suppress(ModuleNotFoundError):
        import_module(package)
