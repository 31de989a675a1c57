"""What a JSON Schema says about a value written as text, and no more than that.

Owns finding the declared types of an argument and turning the model's text into JSON text of the first type that fits.
Validation is the caller's business: a value that fits nothing stays a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .json_string import quote

STRING_ONLY = frozenset(("string",))

_PRECEDENCE = ("null", "integer", "number", "boolean", "object", "array")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d*+)\Z", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?\Z", re.ASCII)
_CONTAINERS = {"object": dict, "array": list}
_PYTHON_TYPES = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (dict, "object"),
    (list, "array"),
)
_DEEPEST = 32  # nested alternatives and references: schemas that refer to themselves must end somewhere


def argument_types(parameters: Mapping[str, Any], name: str) -> frozenset[str]:
    """Types that a function's parameter schema declares for one argument.

    Looks through ``anyOf``, ``oneOf``, ``allOf``, ``$ref``, ``enum``, ``const`` and type lists.

    Args:
        parameters: schema of all arguments; ``$ref`` resolves in it.
        name: the argument.

    Returns:
        JSON Schema type names; empty where nothing is declared.
    """
    if not parameters:
        return frozenset()
    properties = parameters.get("properties")
    # a dict is far cheaper to tell than a mapping, and this is asked for each argument
    schema = properties.get(name) if type(properties) is dict or isinstance(properties, Mapping) else None
    if type(schema) is dict and type(schema.get("type")) is str:  # nearly all of them
        return frozenset((schema["type"],))
    if schema is None:
        schema = next(_found_in_branches(parameters, name, parameters, set(), 0), None)
    return frozenset(_types(schema, parameters, {}, 0))


def declares(parameters: Mapping[str, Any], name: str) -> bool | None:
    """Whether a schema declares an argument; ``None`` where it declares no properties at all."""
    properties = parameters.get("properties")
    return name in properties if isinstance(properties, Mapping) else None


def to_json(text: str, types: frozenset[str]) -> tuple[str, bool]:
    """JSON text of a value that the model wrote as plain text.

    Args:
        text: the value.
        types: declared types; the first of null, integer, number, boolean, object and array that the text fits wins.

    Returns:
        The JSON text, and whether the text fits a declared type (a string fits where none, or string, is declared).
    """
    bare = text.strip()
    for name in _PRECEDENCE:
        if name in types:
            fitting = _as_type(bare, name)
            if fitting is not None:
                return fitting, True
    return quote(text), not types or "string" in types


def _as_type(text: str, name: str) -> str | None:
    if name == "null":
        return text if text == "null" else None
    if name == "integer":
        return text if _INTEGER.match(text) else None
    if name == "number":
        return text if _NUMBER.match(text) else None
    if name == "boolean":
        return text.lower() if text.lower() in ("true", "false") else None
    return text if is_json(text, _CONTAINERS[name]) else None


def is_json(text: str, kind: type | tuple[type, ...] = object) -> bool:
    """Whether ``text`` is one JSON value of a Python type; non-finite numbers are none."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, kind)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _types(schema: Any, root: Mapping[str, Any], known: dict[str, set[str]], depth: int) -> set[str]:
    """Types of ``schema``; ``known`` has those of each reference, none while it is being followed."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return set()
    declared = schema.get("type")
    if isinstance(declared, str):
        return {declared}
    if isinstance(declared, list):
        return {each for each in declared if isinstance(each, str)}
    if isinstance(schema.get("enum"), list):
        return {_type_of(value) for value in schema["enum"]}
    if "const" in schema:
        return {_type_of(schema["const"])}
    if isinstance(schema.get("$ref"), str):
        reference = schema["$ref"]
        if reference not in known:
            known[reference] = set()
            known[reference] = _types(_resolve(reference, root), root, known, depth + 1)
        return known[reference]
    for union in ("anyOf", "oneOf"):
        if isinstance(schema.get(union), list):
            return set().union(*(_types(branch, root, known, depth + 1) for branch in schema[union]))
    if isinstance(schema.get("allOf"), list):
        branches = [types for branch in schema["allOf"] if (types := _types(branch, root, known, depth + 1))]
        return set.intersection(*branches) or set().union(*branches) if branches else set()
    if "properties" in schema or "additionalProperties" in schema:
        return {"object"}
    return {"array"} if "items" in schema else set()


def _type_of(value: Any) -> str:
    return next((name for kind, name in _PYTHON_TYPES if isinstance(value, kind)), "null")


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _found_in_branches(
    schema: Any, name: str, root: Mapping[str, Any], followed: set[str], depth: int
) -> Iterator[Any]:
    """Schemas of an argument that only a branch of the parameters, or what they refer to, declares."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    if depth and isinstance(properties, Mapping) and name in properties:
        yield properties[name]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in followed:
        followed.add(reference)
        yield from _found_in_branches(_resolve(reference, root), name, root, followed, depth + 1)
    for union in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(union)
        for branch in branches if isinstance(branches, list) else ():
            yield from _found_in_branches(branch, name, root, followed, depth + 1)
