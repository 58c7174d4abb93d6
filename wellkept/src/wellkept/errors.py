"""What can go wrong in wellkept.

WellkeptError
├── InvalidInput          a value the caller gave cannot be used; the message names it
├── NotFound              no such page, fact or source, or not yours to see
├── StoreUnavailable      the database cannot be opened or written
├── ModelUnavailable      a language model cannot be asked, or answers nothing usable
├── SettingsError         a setting or settings file cannot be used
├── InstallRefused        a harness's own settings cannot be changed
└── DaemonError
    ├── DaemonUnavailable no daemon answered on the socket
    └── Unauthorized      the install secret did not match
"""

from __future__ import annotations

from pathlib import Path


class WellkeptError(Exception):
    """The root of everything that wellkept raises on purpose."""


class InvalidInput(WellkeptError):
    """A value the caller gave cannot be used."""

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        super().__init__(f"{field}: {reason}")


class NotFound(WellkeptError):
    """There is no such thing in the source that was asked."""


class StoreUnavailable(WellkeptError):
    """The database cannot be opened or written."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"cannot use {path}: {reason}")


class ModelUnavailable(WellkeptError):
    """A language model cannot be asked, or answers nothing usable."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"the model at {url} cannot be used: {reason}")


class EmbedderMismatch(WellkeptError):
    """The vectors in the store are another model's than the one in use."""

    def __init__(self, stored: str, stored_dimension: int, model: str, dimension: int) -> None:
        self.stored, self.model = stored, model
        super().__init__(
            f"the memory holds vectors of {stored} ({stored_dimension} numbers each), not of {model} ({dimension}). "
            "Run `wellkept embed --again` to replace them"
        )


class SettingsError(WellkeptError):
    """A setting cannot be used; the message names the file or variable."""


class InstallRefused(WellkeptError):
    """A harness's own settings cannot be read or changed, and were left as they are."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{path} {reason}")


class DaemonError(WellkeptError):
    """The daemon could not serve a request."""


class DaemonUnavailable(DaemonError):
    """No daemon answered on the socket."""


class Unauthorized(DaemonError):
    """The install secret did not match."""
