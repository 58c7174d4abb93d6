"""What a person may set, read once at the edge. Nothing below this module sees the environment or a settings object.

Each value comes from the first that has it: the command line, the environment, `settings.toml` in the data
directory, the default.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from wellkept.errors import InvalidInput, SettingsError, StoreUnavailable
from wellkept.model import GATE
from wellkept.projects import BY_PROJECT, OWN, project_source

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.providers import Embedder, Extractor, Reranker

LOG = logging.getLogger(__name__)
_MODELS = ("extractor", "embedder", "reranker")
"""The models that may stand behind an address: each has the settings `_url`, `_model` and `_key_env`."""
SOCKET_PATH_BYTES = 100
"""A unix socket's address holds 104 to 108 bytes, depending on the system."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where memory is, whose it is, and what the prompt hook may do."""

    data_dir: Path
    socket: Path
    """Where the daemon listens. The install secret and the hooks' log stand beside it."""
    trust_key: Path | None = None
    """The key that rows are sealed with and by which what was forgotten for good is recognised. Not in the data
    directory, so that no copy has it."""
    source: str = OWN
    named: str | None = None
    """The source as somebody named it; None where nobody did. `@project` is that of whatever project one is in."""
    home: Path = Path("/")
    hooks: bool = True
    """Off: prompt hooks say nothing."""
    transcript_roots: tuple[Path, ...] = ()
    """Directories under which a hook may read transcripts: the harnesses' own, then those that were added."""
    budget_ms: int = 400
    """How long the daemon works on one request before it answers without."""
    arms_off: tuple[str, ...] = ("semantic",)
    """Ways of bringing pages unasked that are off, of those in SWITCHES of `wellkept.recall`; at first its OFF."""
    gate: Mapping[str, str] = field(default_factory=dict)
    """How strict the gate is at least with what strangers and agents write, and whether it is brought unasked: the
    settings of GATE that are there. What the owner set at a terminal may be stricter."""
    capture_queries: bool = False
    """On: what is asked of memory is kept, scrubbed, in `queries` beside it."""

    extractor_url: str | None = None
    """Where a language model answers that reads facts out of conversations, as https://host/v1. None: no model."""
    extractor_model: str | None = None
    extractor_key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the model's key, where it needs one."""
    extractor_key: str | None = field(default=None, repr=False)

    embedder: str = "packaged"
    """What makes vectors: `packaged` (the model that is installed with wellkept), `off`, or a folder with a model."""
    embedder_url: str | None = None
    """Where a model makes them instead, as https://host/v1. What is kept is sent there."""
    embedder_model: str | None = None
    embedder_key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds its key, where it needs one."""
    embedder_key: str | None = field(default=None, repr=False)

    reranker_url: str | None = None
    """Where a model looks at the first pages of a search anew, as https://host/v1; searches that ask for it send them
    there."""
    reranker_model: str | None = None
    reranker_key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds its key, where it needs one."""
    reranker_key: str | None = field(default=None, repr=False)

    @property
    def bound(self) -> str:
        """What hooks and harnesses are bound to: the source that was named, else each project's own."""
        return self.named or BY_PROJECT

    def place(self, directory: Path | None, *, writes: str | None = None) -> tuple[str, tuple[str, ...]]:
        """The source that is written to in a directory, and those that reads look into too.

        A source that was named is all there is. Else what is the person's own and what is the project's go together;
        `writes` says which of them takes what is written where nothing was named.
        """
        named = self.named or writes or OWN
        if self.named not in (None, BY_PROJECT):
            return self.source, ()
        project = None if directory is None else project_source(directory, self.home)
        if project is None:
            return OWN, ()
        return (project, (OWN,)) if named == BY_PROJECT else (OWN, (project,))

    @property
    def database(self) -> Path:
        """The file that holds the memory."""
        return self.data_dir / "memory.db"

    @property
    def daemon_log(self) -> Path:
        """What a daemon that hooks started had to say because it could not serve; empty while one serves."""
        return self.data_dir / "daemon.log"

    @property
    def passphrase(self) -> Path:
        """The file of the owner's passphrase. It belongs to the memory, whoever opens that."""
        return self.data_dir / "passphrase.json"

    @property
    def queries(self) -> Path:
        """The file of captured questions."""
        return self.data_dir / "queries.ndjson"


COMMAND_LINE = "the command line"


def load_settings(env: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings in force; `env` is the process's own unless given, an override that is None counts as absent.

    SettingsError names the file or variable, the key and the remedy; InvalidInput a source that was typed.
    """
    env = os.environ if env is None else env
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    data_dir = _data_dir(env, given)
    layers = (
        (COMMAND_LINE, given),
        ("the environment", _from_environment(env)),
        (str(data_dir / "settings.toml"), _from_file(data_dir / "settings.toml")),
    )
    values: dict[str, Any] = {}
    for where, layer in reversed(layers):
        for key, value in layer.items():
            values[key] = _checked(where, key, value)
    added = values.pop("transcript_roots", ())
    roots = (*_own_roots(env), *added)
    for model in _MODELS:
        if (values.get(f"{model}_url") is None) != (values.get(f"{model}_model") is None):
            raise SettingsError(f"{model}_url, {model}_model: a model needs both, its address and its name")
    values["gate"] = {name: values.pop(name) for name in GATE if name in values}
    if (named := values.pop("source", None)) is not None:
        values |= {"named": named, "source": OWN if named == BY_PROJECT else named}
    found = Settings(
        data_dir=data_dir,
        socket=_socket(data_dir, env),
        trust_key=_trust_key(env),
        transcript_roots=roots,
        home=_home(env),
        **values,
    )
    keys: dict[str, Any] = {f"{model}_key": env.get(getattr(found, f"{model}_key_env")) or None for model in _MODELS}
    return replace(found, **keys)


def secret(variable: str, env: Mapping[str, str] | None = None) -> str | None:
    """What an environment variable holds that keeps a secret; None where it is not set or empty."""
    return (os.environ if env is None else env).get(variable) or None


def open_extractor(settings: Settings) -> Extractor | None:
    """The model that the settings name for reading facts out of conversations, or None."""
    if settings.extractor_url is None or settings.extractor_model is None:
        return None
    from wellkept.providers.chat import ChatExtractor, ChatModel

    return ChatExtractor(ChatModel(settings.extractor_url, settings.extractor_model, settings.extractor_key))


def open_embedder(settings: Settings) -> Embedder | None:
    """What makes vectors; None where it is off or not installed. ModelUnavailable says what is wrong."""
    if settings.embedder_url is not None and settings.embedder_model is not None:
        from wellkept.providers.asking import Address
        from wellkept.providers.embedders import EndpointEmbedder

        return EndpointEmbedder(Address(settings.embedder_url, settings.embedder_key), settings.embedder_model)
    if settings.embedder == "off":
        return None
    from wellkept.providers.embedders import in_folder, packaged

    return packaged() if settings.embedder == "packaged" else in_folder(Path(settings.embedder))


def open_reranker(settings: Settings) -> Reranker | None:
    """The model that the settings name for a second look at what a search found, or None."""
    if settings.reranker_url is None or settings.reranker_model is None:
        return None
    from wellkept.providers.asking import Address
    from wellkept.providers.reranking import EndpointReranker

    return EndpointReranker(Address(settings.reranker_url, settings.reranker_key, 5.0), settings.reranker_model)


def open_memory(settings: Settings) -> Memory:
    """The memory that the settings name; its directory is made, for its owner only, when it is not there.

    SettingsError if the directory cannot be made, StoreUnavailable if the database cannot be used.
    """
    from wellkept.capture import Capture
    from wellkept.forgetting import Files
    from wellkept.memory import Memory
    from wellkept.storage import open_store
    from wellkept.trust.admission import Modes
    from wellkept.trust.gate import Count, key_file

    make_private(settings.data_dir)
    capture = Capture(settings.queries) if settings.capture_queries else None
    memory = Memory(
        open_store("sqlite", settings.database),
        capture,
        embedder=lambda: open_embedder(settings),
        reranker=open_reranker(settings),
        arms_off=settings.arms_off,
        modes=Modes().tightened(settings.gate),
        key=None if settings.trust_key is None else key_file(settings.trust_key),
        count=None if settings.trust_key is None else Count.beside(settings.trust_key, settings.database),
        files=Files(settings.data_dir, settings.database, settings.queries),
    )
    try:
        memory.finish_purges()
    except StoreUnavailable:
        # The memory can be read all the same, and whoever opens it next tries again.
        LOG.warning("a purge could not be brought to its end", exc_info=True)
    return memory


def make_private(directory: Path) -> None:
    """Make the directory, for its owner only, unless it is there. SettingsError says why it cannot be had."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise SettingsError(f"data directory {directory}: there is a file of that name. Name another one") from None
    except OSError as error:
        raise SettingsError(f"data directory {directory}: {error.strerror or error}. Name another one") from None


def _data_dir(env: Mapping[str, str], given: dict[str, object]) -> Path:
    chosen = given.pop("data_dir", None) or env.get("WELLKEPT_DATA_DIR")
    if chosen is not None and chosen != "":
        return _absolute("the data directory", str(chosen), env)
    base = env.get("XDG_DATA_HOME", "")
    root = Path(base) if base.startswith("/") else _home(env) / ".local" / "share"
    return root / "wellkept"


def _trust_key(env: Mapping[str, str]) -> Path:
    if env.get("WELLKEPT_TRUST_KEY"):
        return _absolute("WELLKEPT_TRUST_KEY", env["WELLKEPT_TRUST_KEY"], env)
    base = env.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else _home(env) / ".config") / "wellkept" / "trust.key"


def _absolute(where: str, text: str, env: Mapping[str, str]) -> Path:
    if "\0" in text:
        raise SettingsError(f"{where}: a path cannot hold a zero byte")
    path = _home(env) / text[2:] if text.startswith("~/") else Path(text)
    return Path(os.path.abspath(path))


def _home(env: Mapping[str, str]) -> Path:
    return Path(env["HOME"]) if env.get("HOME") else Path.home()


_HARNESS_HOMES: Mapping[str, tuple[str, str]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "openclaw": ("OPENCLAW_STATE_DIR", ".openclaw"),
}
"""Where each harness keeps what is its user's: the variable that moves it, and its directory below the home."""


def harness_home(harness: str, env: Mapping[str, str] | None = None) -> Path:
    """The directory in which a harness keeps its user's settings; `env` is the process's own unless given."""
    env = os.environ if env is None else env
    variable, below = _HARNESS_HOMES[harness]
    return Path(env.get(variable) or _home(env) / below)


def _own_roots(env: Mapping[str, str]) -> tuple[Path, ...]:
    return harness_home("claude-code", env) / "projects", harness_home("codex", env) / "sessions"


def _socket(data_dir: Path, env: Mapping[str, str]) -> Path:
    beside = data_dir / "wellkept.sock"
    if len(os.fsencode(beside)) <= SOCKET_PATH_BYTES:
        return beside
    given = env.get("XDG_RUNTIME_DIR", "")
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    short = [Path(f"/tmp/wellkept-{os.getuid()}-{digest}")]  # noqa: S108
    if given.startswith("/"):
        short.insert(0, Path(given) / f"wellkept-{digest}")
    for directory in short:
        if len(os.fsencode(directory / beside.name)) <= SOCKET_PATH_BYTES:
            return directory / beside.name
    raise SettingsError(f"data directory {data_dir}: too long for a socket in it. Name a shorter one")


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    layer: dict[str, object] = {}
    if env.get("WELLKEPT_SOURCE"):
        layer["source"] = env["WELLKEPT_SOURCE"]
    if env.get("WELLKEPT_HOOKS") == "0":
        layer["hooks"] = False
    if env.get("WELLKEPT_CAPTURE_QUERIES"):
        layer["capture_queries"] = _on_or_off(env["WELLKEPT_CAPTURE_QUERIES"])
    named = (f"{model}_{part}" for model in _MODELS for part in ("url", "model"))
    for key in (*named, "embedder"):
        if value := env.get(f"WELLKEPT_{key.upper()}"):
            layer[key] = value
    return layer


def _on_or_off(text: str) -> object:
    """A switch as a variable says it; what is neither 0 nor 1 is left for the check to refuse."""
    return {"0": False, "1": True}.get(text, text)


def _from_file(path: Path) -> dict[str, object]:
    try:
        return dict(tomllib.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read ({error}). Mend it or remove it") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not TOML: {error}. Mend it or remove it") from None


def _checked(where: str, key: str, value: object) -> object:
    reader = _READERS.get(key)
    if reader is None:
        raise SettingsError(f"{where}: unknown key {key!r}. Known: {', '.join(_READERS)}")
    try:
        return reader(value)
    except InvalidInput as error:
        if where == COMMAND_LINE:
            raise
        raise SettingsError(f"{where}: {error}") from None
    except ValueError as error:
        raise SettingsError(f"{where}: {key}: {error}") from None


def _scope(value: object) -> str:
    """A source by the rule that holds at every door."""
    if isinstance(value, str) and value.isascii() and value.isalnum() and len(value) <= 200:
        return value
    from wellkept.memory import check_name

    check_name("source", value)
    return str(value)


def _named(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 200 or not value.isprintable():
        raise ValueError(f"expected a name of 1 to 200 printable characters, not {value!r}")
    return value


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false (1 or 0 in a variable), not {value!r}")
    return value


def _roots(value: object) -> tuple[Path, ...]:
    entries = value if isinstance(value, list | tuple) else None
    if entries is None or not all(isinstance(entry, str | Path) for entry in entries):
        raise ValueError(f"expected a list of directories, not {value!r}")
    paths = tuple(Path(entry).expanduser() for entry in entries)
    relative = [str(path) for path in paths if not path.is_absolute()]
    if relative:
        raise ValueError(f"{relative[0]!r} is not an absolute path")
    return paths


def _arms(value: object) -> tuple[str, ...]:
    from wellkept.recall import SWITCHES

    known = ", ".join(SWITCHES)
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected a list of {known}, not {value!r}")
    for arm in value:
        if arm not in SWITCHES:
            raise ValueError(f"no arm {arm!r} can be switched off. Known: {known}")
    return tuple(value)


def _strictness(name: str, value: object) -> str:
    if value not in GATE[name]:
        raise ValueError(f"expected {', '.join(GATE[name])}, not {value!r}")
    return str(value)


def _milliseconds(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 600_000:
        raise ValueError(f"expected whole milliseconds from 1 to 600000, not {value!r}")
    return value


def _embedder(value: object) -> str:
    if isinstance(value, str) and (value in ("packaged", "off") or Path(value).is_absolute()):
        return value
    raise ValueError(f"expected packaged, off or the absolute path of a folder with a model, not {value!r}")


def _address(value: object) -> str:
    parts = urlsplit(value) if isinstance(value, str) else None
    _ = parts.port if parts is not None else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise ValueError("expected an address such as https://host/v1, without a user or a key in it")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError(f"http to {parts.hostname} would send conversations unencrypted; use https")
    return str(value)


_READERS: Mapping[str, Callable[[object], object]] = {
    "source": _scope,
    "hooks": _switch,
    "transcript_roots": _roots,
    "budget_ms": _milliseconds,
    "arms_off": _arms,
    **{name: partial(_strictness, name) for name in GATE},
    "capture_queries": _switch,
    "extractor_url": _address,
    "extractor_model": _named,
    "extractor_key_env": _named,
    "embedder": _embedder,
    "embedder_url": _address,
    "embedder_model": _named,
    "embedder_key_env": _named,
    "reranker_url": _address,
    "reranker_model": _named,
    "reranker_key_env": _named,
}
