"""The installed packages must be known before pytest meets the folders that bear the same names."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

for package in ("brainbench", "wellkept"):
    if find_spec(package) is not None:
        import_module(package)


@pytest.fixture(autouse=True, scope="session")
def config_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the home of whoever runs it, where the key of their own memory is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield
