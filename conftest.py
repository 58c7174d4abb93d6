"""The installed packages must be known before pytest meets the folders that bear the same names."""

from importlib import import_module
from importlib.util import find_spec

for package in ("brainbench", "wellkept"):
    if find_spec(package) is not None:
        import_module(package)
