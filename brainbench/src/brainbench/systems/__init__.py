"""Who is measured.

A system says what it `can` do and does it; whatever it did not claim is never asked of it. Third parties subclass
System and name their class in the entry-point group `brainbench.systems`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainbench.errors import SystemFailure, Unsupported, UsageError
from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    Extraction,
    FactIn,
    FactRow,
    ForgetIn,
    Injection,
    ItemIn,
    ItemRow,
    Message,
    PageIn,
    Reply,
    ResyncIn,
    RowQuery,
    RunContext,
    SearchHit,
    VouchIn,
    WriteIn,
)
from brainbench.systems.access import Access

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

SYSTEMS: Mapping[str, str] = {
    "wellkept": "brainbench.systems.wellkept:Wellkept",
    "wellkept-lexical": "brainbench.systems.wellkept:WellkeptLexical",
    "wellkept-vector": "brainbench.systems.wellkept:WellkeptVector",
    "wellkept-naive": "brainbench.systems.wellkept:WellkeptNaive",
    "wellkept-by-meaning": "brainbench.systems.wellkept:WellkeptByMeaning",
    "null": "brainbench.systems.baselines:Null",
    "bm25": "brainbench.systems.baselines:Bm25",
    "files+grep": "brainbench.systems.baselines:FilesGrep",
    "always-silent": "brainbench.systems.panel:AlwaysSilent",
    "always-inject": "brainbench.systems.panel:AlwaysInject",
    "echo": "brainbench.systems.panel:Echo",
    "random": "brainbench.systems.panel:Chance",
    "full-context": "brainbench.systems.panel:FullContext",
}
BREAKS: Mapping[str, str] = {
    "degraded": "brainbench.systems.broken:Degraded",
    "titles-only": "brainbench.systems.broken:TitlesOnly",
    "never-silent": "brainbench.systems.broken:NeverSilent",
    "stray-page": "brainbench.systems.broken:StrayPage",
    "one-page": "brainbench.systems.broken:OnePage",
    "fifth-fact-lost": "brainbench.systems.broken:FifthFactLost",
    "last-entity": "brainbench.systems.broken:LastEntity",
    "other-pages": "brainbench.systems.broken:OtherPages",
    "nothing-persisted": "brainbench.systems.broken:NothingPersisted",
    "pointers-only": "brainbench.systems.broken:PointersOnly",
    "one-source": "brainbench.systems.broken:OneSource",
    "as-the-owner": "brainbench.systems.loosened:AsTheOwner",
    "anybody-vouches": "brainbench.systems.loosened:AnybodyVouches",
    "one-tier": "brainbench.systems.loosened:OneTier",
    "unlabelled": "brainbench.systems.loosened:Unlabelled",
    "unflagged": "brainbench.systems.loosened:Unflagged",
    "closes-both": "brainbench.systems.loosened:ClosesBoth",
    "ever-current": "brainbench.systems.loosened:EverCurrent",
    "no-history": "brainbench.systems.loosened:NoHistory",
    "hides-only": "brainbench.systems.loosened:HidesOnly",
    "short-receipt": "brainbench.systems.loosened:ShortReceipt",
    "unremembering": "brainbench.systems.loosened:Unremembering",
    "open-gate": "brainbench.systems.loosened:OpenGate",
    "holds-all": "brainbench.systems.loosened:HoldsAll",
    "bare": "brainbench.systems.loosened:Bare",
}
"""What can be put around any system: `degraded:bm25` is bm25 with the break of that name."""
UNBOUNDED = frozenset({"full-context"})
"""The built-in systems whose page budget is lifted. A name in SYSTEMS cannot be taken by anybody else."""
DOORS: Mapping[str, str] = {
    "cmd:": "brainbench.systems.command:Command",
    "http://": "brainbench.systems.web:Web",
    "https://": "brainbench.systems.web:Web",
    "mcp:": "brainbench.systems.mcp_server:McpServer",
}
"""How a memory that is no Python class comes in: the start of its name -> what is made of the name and its Access."""
INSTALL = "`pip install PATH/TO/THE/REPOSITORY/{}`"
"""How to get a built-in system whose package is not there. The name alone may be anybody's on a registry."""
HOSTED = "brainbench.systems.hosted:Hosted"
"""What is made of the name of a Python class that does not come with the bench, and its Access."""


class System:
    """A memory under test. Override what it can do, and list that in `can`.

    `open` is called before every fixture and must leave an empty memory; `close` comes last. Any exception is recorded
    as an error of that event, and never becomes a score.
    """

    name: str = ""
    version: str = ""
    can: frozenset[Capability] = frozenset()
    production: frozenset[str] = frozenset()
    """The harnesses for which the artefact that the product ships is what runs here."""
    alone: bool = False
    """Whether all who open it share one memory, so that only one worker may play it at a time."""
    tells_turns: bool = False
    """Whether its hits say which messages of a written conversation were found."""
    hands_over: bool = False
    """Whether it comes with the bench and its snapshots are files, see `hand_over`."""
    losses: int = 0
    """How often what runs the memory, apart from this object, hung or ended."""
    inside: str = ""
    """The directory to which what it starts is confined, where that is another's code than this repository's."""

    def open(self, run: RunContext) -> None:
        """Start an empty memory with the run's sources."""

    def attach(self, place: str | None) -> None:
        """Open the memory that is in use, at `place` or where the system's own settings say, instead of `open`.

        It is only asked, and nothing that is asked may change it. UsageError when there is none. A system that keeps
        no memory between runs does not define this.
        """
        raise Unsupported("attach")

    def close(self) -> None:
        """Release everything; processes that the system started must end here.

        Once, after the last fixture, or without any `open` where the bench only asked what the memory can do. What hung
        or had to be ended is not called.
        """

    def tell_time(self, now: str) -> None:
        """The bench's clock, before every event: a memory that dates or decays by it replays the same every time."""

    def write_page(self, page: PageIn) -> None:
        """Keep a page, by the ordinary page write. (page_write)"""
        raise Unsupported("page_write")

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        """Keep some pages at once. Override it where that is quicker than one by one. (page_write)"""
        for page in pages:
            self.write_page(page)

    def read_page(self, source: str, slug: str) -> str | None:
        """The page's Markdown, or None. Used to see that seeds have landed. (page_write)"""
        raise Unsupported("page_write")

    def read_pages(self, source: str, slugs: Sequence[str]) -> Sequence[str | None]:
        """Some pages of a source at once. (page_write)"""
        return [self.read_page(source, slug) for slug in slugs]

    def edit_page(self, page: PageIn) -> None:
        """Replace a page that exists. (edit)"""
        raise Unsupported("edit")

    def keep(self, name: str) -> None:
        """Remember all that is stored now as a snapshot called `name`, beyond the next `open`. Nothing by default."""

    def restore(self, name: str) -> bool:
        """After `open`: be as the snapshot was. False if there is none; then the bench writes its pages again."""
        return False

    def hand_over(self, name: str) -> Path | None:
        """A file that holds the whole snapshot called `name`, for a twin of this system in another process, or None.

        Asked only of systems that come with the bench, and only where nothing but pages was written before.
        """
        return None

    def take_over(self, name: str, file: Path) -> bool:
        """Have the snapshot that a twin handed over, as if kept here. False if that cannot be."""
        return False

    def write_fact(self, fact: FactIn) -> None:
        """Keep a fact. (fact_write)"""
        raise Unsupported("fact_write")

    def write_conversation(self, conversation: Conversation) -> str | None:
        """Write a closed session back; gives the id of the page that now holds it. (conversation_write)"""
        raise Unsupported("conversation_write")

    def heard(self) -> Extraction | None:
        """What a model said of the conversation written last, before anything of it was kept; None without one."""
        return None

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        """Stored facts in the order they were stored; with a query the best `limit` for it. (recall_facts)"""
        raise Unsupported("recall_facts")

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        """Pages for a query, best first. (search)"""
        raise Unsupported("search")

    def search_turns(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        """Messages of conversations for a query, best first, where it tells them. What `search` gives by default."""
        return self.search(source, query, limit)

    def finish_within(self, seconds: float, since: float) -> None:
        """All that is asked has to be answered in so many seconds since a moment of `time.monotonic`. For doors."""

    def settle(self) -> None:
        """Finish what writing left for later, as some memories make vectors. Nothing by default."""

    def context(self, ask: Ask) -> Injection:
        """What the memory would put before the model on this turn, within the budget. (context)"""
        raise Unsupported("context")

    def preamble(self, harness: str, source: str) -> str:
        """What the memory puts before a session of this harness; "" for nothing. (context)"""
        return ""

    def parse_transcript(self, harness: str, data: bytes) -> Sequence[Message] | None:
        """The messages that the product's own parser reads from a transcript of this harness; None if it has none."""
        return None

    def reopen(self, run: RunContext) -> None:
        """Open the memory that is kept in `run.directory`, an empty one if there is none, instead of `open`. (reopen)

        Asked after `close`, after a process of the same memory was killed, and while another one has it open.
        """
        raise Unsupported("reopen")

    def kill(self) -> None:
        """End what runs the memory at once, as by SIGKILL. It is for doors to define, not for memories."""
        raise Unsupported("kill: what runs the memory is not within reach")

    def add_item(self, item: ItemIn) -> str:
        """Keep something; the id by which it can be had again. (add)"""
        raise Unsupported("add")

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        """What is kept and fits the query, best first; with `as_of` what held then, asked only with `as_of`. (add)"""
        raise Unsupported("add")

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        """What is kept under an item_id, also if it was superseded; None where nothing is or it was deleted. (get)"""
        raise Unsupported("get")

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        """Give an item another text; the item_id by which it goes now, None where there is none. (update)"""
        raise Unsupported("update")

    def delete_item(self, source: str, item_id: str) -> bool:
        """Delete an item; whether there was one. (delete)"""
        raise Unsupported("delete")

    def delete_items(self, source: str) -> None:
        """Delete all that a source holds. (delete_all)"""
        raise Unsupported("delete_all")

    def list_items(self, source: str) -> Sequence[ItemRow]:
        """All that a source holds, without what was deleted or superseded. (list)"""
        raise Unsupported("list")

    def write_by(self, given: WriteIn) -> Reply:
        """Keep what comes in by a door, and say what became of it; what it refuses is no error. (principals)"""
        raise Unsupported("principals")

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        """What stands on one of its surfaces, each thing with the tier under which it is shown. (trust_labels)"""
        raise Unsupported("trust_labels")

    def forget(self, asked: ForgetIn) -> Reply:
        """Forget things, or let what was forgotten be said again, for whoever may; with a receipt. (forget)"""
        raise Unsupported("forget")

    def vouch(self, given: VouchIn) -> Reply:
        """Take the owner's word on a thing where it is the owner's. (confirm)"""
        raise Unsupported("confirm")

    def resync(self, given: ResyncIn) -> Reply:
        """Take in what stands elsewhere, as the door for that does. (resync)"""
        raise Unsupported("resync")

    def opening(self, source: str, goal: str) -> str:
        """What a session with this goal is given to start with; "" for nothing. (context)"""
        return ""

    def jobs(self) -> None:
        """Do what is done between sessions, as merging what was said. Nothing by default."""

    def hook_command(self, harness: str) -> Sequence[str]:
        """The argv that the product installs as this harness's prompt hook. (hook_process)"""
        raise Unsupported("hook_process")

    def hook_environment(self) -> Mapping[str, str]:
        """Environment variables that the hook process needs besides the bench's scrubbed ones. (hook_process)"""
        return {}

    def hook_inproc(self, harness: str, stdin: bytes) -> bytes:
        """The same hook without a process: the bytes it would print. (hook_process)"""
        raise Unsupported("hook_process")

    def hook_problem(self, harness: str) -> str | None:
        """Why the last hook call was silent, if that was an error and not a decision. (hook_process)"""
        return None

    def transcript_root(self, harness: str) -> str:
        """The directory under which the hook accepts this harness's transcripts. (hook_process)"""
        raise Unsupported("hook_process")


_FILE = re.compile(r"(?:(.*)/)?([^/:\s]+)\.py(?::(.*))?\Z")
"""A Python file, and perhaps a class in it."""
_METHODS: Mapping[Capability, tuple[str, ...]] = {
    Capability.PAGE_WRITE: ("write_page", "read_page"),
    Capability.FACT_WRITE: ("write_fact",),
    Capability.CONVERSATION_WRITE: ("write_conversation",),
    Capability.RECALL_FACTS: ("recall_facts",),
    Capability.SEARCH: ("search",),
    Capability.CONTEXT: ("context",),
    Capability.EDIT: ("edit_page",),
    Capability.HOOK_PROCESS: ("hook_command", "transcript_root"),
    Capability.ADD: ("add_item", "find_items"),
    Capability.GET: ("get_item",),
    Capability.UPDATE: ("update_item",),
    Capability.DELETE: ("delete_item",),
    Capability.DELETE_ALL: ("delete_items",),
    Capability.LIST: ("list_items",),
    Capability.REOPEN: ("reopen",),
    Capability.PRINCIPALS: ("write_by",),
    Capability.TRUST_LABELS: ("rows",),
    Capability.FORGET: ("forget",),
    Capability.PURGE: ("forget",),
    Capability.RECEIPTS: ("forget",),
    Capability.CONFIRM: ("vouch",),
    Capability.RESYNC: ("resync",),
}
"""What a system that claims a capability must override."""


def system_names() -> tuple[str, ...]:
    """The names `--system` takes: the built-in ones, then installed third parties by name."""
    third = sorted({point.name for point in _installed()} - set(SYSTEMS))
    return (*SYSTEMS, *third)


def load_system(name: str, access: Access | None = None, *, here: bool = False) -> System:
    """A system by its name, by `module:Class`, or through a door. UsageError lists what is known, or what is wrong.

    What is behind a door gets what `access` lets it have, and so does a class that does not come with the bench: it
    gets a process of its own, unless it is to be made `here`. `BREAK:NAME` is the system of that name with a break.
    """
    kind, _, inner = name.partition(":")
    if inner and kind in BREAKS:
        return _broken(name, BREAKS[kind], load_system(inner, access, here=here))
    door = next((target for start, target in DOORS.items() if name.startswith(start)), None)
    if door is None and name not in SYSTEMS and not here:
        _class_of(name)  # an unknown name needs no process
        door = HOSTED
    system = _made(name, door, access or Access())
    if not isinstance(system, System):
        raise UsageError(f"--system: {name} is not a brainbench.systems.System")
    if problems := list(_problems(system)):
        raise UsageError("\n".join(f"--system: {name}: {problem}" for problem in problems))
    system.name = name
    return system


def check_name(name: str) -> None:
    """UsageError where nothing is called so, and nothing has to be loaded to see that."""
    kind, _, inner = name.partition(":")
    if inner and kind in BREAKS:
        check_name(inner)
    elif not any(name.startswith(start) for start in DOORS):
        _class_of(name)


def comes_with_the_bench(name: str) -> bool:
    """Whether a system is no foreign code: one of SYSTEMS, also with a break around it."""
    kind, _, inner = name.partition(":")
    return name in SYSTEMS or (kind in BREAKS and comes_with_the_bench(inner))


def _made(name: str, door: str | None, access: Access) -> object:
    """The client behind a door, or the object of a class. UsageError for whatever is raised."""
    try:
        return _attribute(_class_of(name))() if door is None else _attribute(door)(name, access)
    except ImportError as error:
        raise UsageError(f"--system: {name} cannot be loaded: {error}; {_import_remedy(name, error)}") from error
    except UsageError:
        raise
    except SystemFailure as error:
        raise UsageError(f"--system: {name} cannot be loaded: {error}") from error
    except Exception as error:
        raise UsageError(f"--system: {name} cannot be loaded: {type(error).__name__}: {error}") from error


def _import_remedy(name: str, error: ImportError) -> str:
    """What to do where the import of a system, or of something that it imports, failed."""
    if name in SYSTEMS:
        return f"{INSTALL.format(name)} first"
    module = name.partition(":")[0]
    if error.name is not None and (error.name == module or module.startswith(f"{error.name}.")):
        return f"run this from the folder of {error.name.partition('.')[0]}, or install it here"
    return "install what it imports into the environment of brainbench"


def _broken(name: str, target: str, whole: System) -> System:
    """A system with a break around it."""
    module, _, attribute = target.partition(":")
    system: System = getattr(import_module(module), attribute)(whole)
    system.name = name
    return system


def _class_of(name: str) -> str:
    """Where the class of a name stands, as `module:Class`."""
    if name in SYSTEMS or (":" in name and not _FILE.match(name)):
        return SYSTEMS.get(name, name)
    found = [point for point in _installed() if point.name == name]
    if not found and (meant := _meant(name)):
        raise UsageError(f"--system: unknown system {name!r}; {meant}")
    if not found:
        known = ", ".join(system_names())
        raise UsageError(
            f"--system: unknown system {name!r}; known: {known}, or a class as module:Class, "
            f"or what begins with {', '.join(DOORS)}"
        )
    return found[0].value


def _meant(name: str) -> str:
    """How to write what looks like a file with a class, or like a program with its words; "" for anything else."""
    if file := _FILE.match(name):
        folder, module, attribute = file.groups()
        there = f"; run it from {folder}" if folder else ""
        return f"a class is named by its module: {module}:{attribute or 'Class'}{there}"
    if " " in name.strip() or os.sep in name:
        return f"a program is written as 'cmd:{name}'"
    return ""


def _installed() -> EntryPoints:
    """The systems of installed third parties."""
    from importlib.metadata import entry_points  # a third of the time that a host takes to start

    return entry_points(group="brainbench.systems")


def _attribute(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _problems(system: System) -> Iterator[str]:
    """How what a system claims differs from what it does."""
    if unknown := sorted(map(str, set(system.can) - set(Capability))):
        yield f"`can` holds {', '.join(unknown)}; known: {', '.join(Capability)}"
    for capability, methods in _METHODS.items():
        missing = [m for m in methods if getattr(type(system), m) is getattr(System, m)]
        if capability in system.can and missing:
            yield f"`can` holds {capability}, so it must define {' and '.join(missing)}"
