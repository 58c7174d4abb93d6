"""What can go wrong in wellkept.

WellkeptError
├── InvalidInput          a value the caller gave cannot be used; the message names it
├── NotFound              no such page, fact or source, or not yours to see
├── Refused               it may not be done, whoever asks this way
│   ├── ScopeDenied       the caller may not do this
│   ├── WrongHost         a request under a name, or from a page, that is not this machine's
│   ├── NeedsTerminal     only a person at a terminal may do this
│   └── Conflict          it contradicts what is there
├── BadRequest            a request cannot be read at all
├── TooManyRequests       more is being asked at once than is served
├── TooLarge              a request is larger than any that is served
├── StoreUnavailable      the database cannot be opened or written
├── ModelUnavailable      a language model cannot be asked, or answers nothing usable
├── EmbedderMismatch      the vectors kept are another model's
├── NotCalibrated         nothing says what nearness means with this embedder
├── SettingsError         a setting or settings file cannot be used
├── GitUnavailable        git could not do what it was asked
├── Unreachable           another service could not be asked, or answered nothing usable
├── InstallRefused        a harness's own settings cannot be changed
└── DaemonError
    ├── DaemonUnavailable no daemon answered on the socket
    └── Unauthorized      the install secret, or a token, did not match
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

PROBLEMS: Mapping[str, tuple[int, str]] = {
    "bad_request": (400, "The request cannot be read"),
    "unauthorized": (401, "No valid token"),
    "scope_denied": (403, "The caller may not do this"),
    "needs_terminal": (403, "Only a person at a terminal may do this"),
    "wrong_host": (403, "This address is not served"),
    "not_found": (404, "There is no such thing"),
    "method_not_allowed": (405, "This path has no such method"),
    "refused": (409, "It may not be done"),
    "conflict": (409, "It contradicts what is there"),
    "too_large": (413, "The request is too large"),
    "invalid_params": (422, "A value cannot be used"),
    "busy": (429, "Too many requests at once"),
    "internal": (500, "A fault of wellkept"),
    "model_unavailable": (503, "A model cannot be asked"),
    "store_unavailable": (503, "The database cannot be used"),
    "daemon_unavailable": (503, "No daemon answers"),
    "settings": (500, "A setting cannot be used"),
}
"""Every code that any door answers with -> its HTTP status and title."""


_FULL = "the disk is full. Free some space and try again"
_CLOSED = "it may not be written. Allow writing to the file and its folder, or choose another path"
_OF_FILES: Mapping[int, str] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _CLOSED,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
}
"""What the system says of a file -> what is wrong, and what to do."""


class WellkeptError(Exception):
    """The root of everything that wellkept raises on purpose."""

    problem: ClassVar[str] = "internal"
    """The code at every door: a key of PROBLEMS."""


class InvalidInput(WellkeptError):
    """A value the caller gave cannot be used."""

    problem = "invalid_params"

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        super().__init__(f"{field}: {reason}")


class NotFound(WellkeptError):
    """There is no such thing in the source that was asked."""

    problem = "not_found"


class Refused(WellkeptError):
    """It may not be done, whoever asks this way."""

    problem = "refused"


class ScopeDenied(Refused):
    """The caller may not do this."""

    problem = "scope_denied"


class WrongHost(Refused):
    """A request came under a name, or from a page, that is not this machine's."""

    problem = "wrong_host"


class NeedsTerminal(Refused):
    """Only a person at a terminal may do this."""

    problem = "needs_terminal"


class Conflict(Refused):
    """It contradicts what is there."""

    problem = "conflict"


class BadRequest(WellkeptError):
    """A request cannot be read at all."""

    problem = "bad_request"


class TooManyRequests(WellkeptError):
    """More is being asked at once than is served."""

    problem = "busy"


class TooLarge(WellkeptError):
    """A request is larger than any that is served."""

    problem = "too_large"


class StoreUnavailable(WellkeptError):
    """The database cannot be opened or written."""

    problem = "store_unavailable"

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"cannot use {path}: {reason}")

    @classmethod
    def for_file(cls, path: str | Path, error: OSError) -> StoreUnavailable:
        """What the system says of a file that belongs to the memory, and what to do."""
        reason = _OF_FILES.get(error.errno or 0, f"{error.strerror or error}. Check the file and its disk")
        return cls(path, reason)


class ModelUnavailable(WellkeptError):
    """A language model cannot be asked, or answers nothing usable."""

    problem = "model_unavailable"

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"the model at {url} cannot be used: {reason}")


class EmbedderMismatch(WellkeptError):
    """The vectors in the store are another model's than the one in use."""

    problem = "conflict"

    def __init__(self, stored: str, stored_dimension: int, model: str, dimension: int) -> None:
        self.stored, self.model = stored, model
        super().__init__(
            f"the memory holds vectors of {stored} ({stored_dimension} numbers each), not of {model} ({dimension}). "
            "Run `wellkept embed --again` to replace them"
        )


class NotCalibrated(WellkeptError):
    """What two vectors' nearness says of a need is not known for this model."""


class SettingsError(WellkeptError):
    """A setting cannot be used; the message names the file or variable."""

    problem = "settings"


class GitUnavailable(WellkeptError):
    """The git program is not there, or could not do what it was asked."""

    problem = "refused"

    def __init__(self, folder: str | Path, reason: str) -> None:
        self.folder, self.reason = str(folder), reason
        super().__init__(f"{folder}: {reason}")


class Unreachable(WellkeptError):
    """Another service could not be asked, or answered nothing usable."""

    problem = "refused"

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where.partition('?')[0]}: {reason}")


class InstallRefused(WellkeptError):
    """A harness's own settings cannot be read or changed, and were left as they are."""

    problem = "refused"

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{path} {reason}")


class DaemonError(WellkeptError):
    """The daemon could not serve a request."""

    problem = "daemon_unavailable"


class DaemonUnavailable(DaemonError):
    """No daemon answered on the socket."""


class Unauthorized(DaemonError):
    """The install secret, or a token, did not match."""

    problem = "unauthorized"
