"""The shape of a JSON value, written once as a JSON Schema; what breaks it is told in our words.

Each part of a schema says in `description` what is allowed there, so that every reason can name it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from brainbench.errors import Fault

Schema = dict[str, Any]
Steps = tuple[str | int, ...]
Rank = tuple[tuple[int, int, str], ...]
LARGEST = 2**53 - 1
"""The largest integer that every JSON reader agrees on."""
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a place in a file; `rank` is its turn in the order of checks."""

    rank: Rank
    steps: Steps
    reason: str

    def fault(self, file: str) -> Fault:
        """The finding as a fault of that file."""
        return Fault(file, field_path(self.steps), self.reason)


def obj(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, order: str = "") -> Schema:
    """An object with just these keys. `order` names them in the order of checks, if that is not as given."""
    known = {**required, **(optional or {})}
    names = order.split() or list(known)
    return {
        "type": "object",
        "description": f"an object with {', '.join(names)}",
        "properties": {name: known[name] for name in names},
        "required": list(required),
        "additionalProperties": False,
    }


def mapping(values: Schema, allowed: str) -> Schema:
    """An object whose keys are free."""
    return {"type": "object", "description": allowed, "additionalProperties": values}


def items(each: Schema, allowed: str, least: int = 0) -> Schema:
    """A list of at least `least` values."""
    return {"type": "array", "description": allowed, "items": each, "minItems": least}


def string(allowed: str = "a string", least: int = 0, pattern: str | None = None) -> Schema:
    """A string of at least `least` characters."""
    schema: Schema = {"type": "string", "description": allowed, "minLength": least}
    return schema if pattern is None else schema | {"pattern": pattern}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return schema | {"type": [schema["type"], "null"], "description": f"{schema['description']} or null"}


def one_of(*values: str | int) -> Schema:
    """One of these values."""
    return {"enum": list(values), "description": " or ".join(json.dumps(v) for v in values)}


BOOLEAN: Schema = {"type": "boolean", "description": "true or false"}
INTEGER: Schema = {
    "type": "integer",
    "minimum": -LARGEST,
    "maximum": LARGEST,
    "description": f"an integer of at most {LARGEST} in size",
}
TEXT = string("a non-empty string", 1)
STRINGS = items(TEXT, "a list of non-empty strings")
KEYWORDS = items(TEXT, "a non-empty list of non-empty strings", 1)
FIXTURE_ID = string("lower-case letters, digits and hyphens, beginning with no hyphen", 1, r"^[a-z0-9][a-z0-9-]*$")


class Shape:
    """A JSON Schema that tells everything wrong with a value, in the order in which the schema lists its fields."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._validator = Draft202012Validator(schema)

    def findings(self, value: object, at: Steps = (), base: Rank = ()) -> list[Finding]:
        """What is wrong, one finding for each place. `at` and `base` say where the value stands in its file."""
        found: dict[Steps, Finding] = {}
        for error in self._validator.iter_errors(_marked(value)):
            for steps, reason in self._told(error):
                found.setdefault(steps, Finding((*base, *self.rank(steps)), (*at, *steps), reason))
        return sorted(found.values(), key=lambda f: f.rank)

    def rank(self, steps: Steps) -> Rank:
        """Where a field comes in the order of checks: known keys as listed, then the others by number or name."""
        ranks: list[tuple[int, int, str]] = []
        schema: Mapping[str, Any] = self.schema
        for step in steps:
            if isinstance(step, int):
                ranks.append((0, step, ""))
                schema = schema.get("items", {})
                continue
            known = list(schema.get("properties", {}))
            ranks.append((0, known.index(step), "") if step in known else (1, _number(step), step))
            rest = schema.get("additionalProperties") or {}
            schema = schema["properties"][step] if step in known else rest
        return tuple(ranks)

    def _told(self, error: ValidationError) -> Iterator[tuple[Steps, str]]:
        steps = tuple(_unmarked(step) for step in error.instance_path)
        schema = self._part(error.schema_path[:-1])
        if error.kind.name == "required":
            missing = str(error.kind.as_dict()["property"])
            yield (*steps, missing), f"missing; needs {schema['properties'][missing]['description']}"
        elif error.kind.name == "additionalProperties":
            for key in error.kind.as_dict()["unexpected"]:
                yield (*steps, str(_unmarked(key))), f"unknown key; allowed here: {', '.join(schema['properties'])}"
        else:
            yield steps, f"{shown(error.instance)} is not allowed; needs {schema['description']}"

    def _part(self, path: Sequence[str | int]) -> Schema:
        part: Any = self.schema
        for step in path:
            part = part[step]
        found: Schema = part
        return found


def shown(value: object) -> str:
    """A value as it may stand in a message: short, on one line."""
    if isinstance(value, dict):
        return f"an object with {len(value)} keys" if len(value) != 1 else "an object with 1 key"
    if isinstance(value, list):
        return {0: "an empty list", 1: "a list of 1"}.get(len(value), f"a list of {len(value)}")
    if isinstance(value, str) and len(value) > SHOWN:
        return f'{shown(value[:SHOWN])[:-1]}..." ({len(value)} characters)'
    return on_one_line(json.dumps(value, ensure_ascii=False))


def on_one_line(text: str) -> str:
    """The text with everything that does not print, such as control characters, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def field_path(steps: Steps) -> str:
    """`turns[2].ts`; a key that is no plain word stands quoted in brackets."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif re.fullmatch(r"[\w-]{1,80}", step):
            path += f".{step}" if path else step
        else:
            path += f"[{shown(step)}]"
    return path or "(top level)"


def _number(key: str) -> int:
    return int(key) if re.fullmatch(r"-?[0-9]{1,18}", key, re.ASCII) else LARGEST


_MARK = "#"


def _marked(value: object) -> object:
    """The same value with a mark before each key that looks like a number.

    The validator tells the place of an error with such keys turned into list indices.
    """
    if isinstance(value, dict):
        return {_MARK + key if re.match(r"[#+0-9]", key) else key: _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list) else value


def _unmarked(step: str | int) -> str | int:
    return step.removeprefix(_MARK) if isinstance(step, str) else step
