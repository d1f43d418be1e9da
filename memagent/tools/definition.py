"""A typed function as a tool: name, description and JSON Schema from its signature and docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, PydanticSchemaGenerationError, create_model
from pydantic.errors import PydanticUserError

from memagent.errors import ToolError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Tool:
    """A function the model may call. Calling the object calls the function.

    ``side_effect``: it changes something outside, so a person must agree before it runs.
    ``timeout_seconds`` None: the agent's own limit. ``stale_after_seconds``: how long a result may be taken
    for current; None: within its session. ``max_output_tokens``: the tool's own cap on what is shown of a
    result; the rest is kept and can be read back.
    """

    function: Callable[..., Any]
    name: str
    description: str
    arguments: type[BaseModel]
    side_effect: bool = False
    timeout_seconds: float | None = None
    stale_after_seconds: float | None = None
    max_output_tokens: int | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def schema(self) -> dict[str, Any]:
        """The tool in the chat-completions format."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        for field in parameters.get("properties", {}).values():
            field.pop("title", None)
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    side_effect: bool = False,
    timeout_seconds: float | None = None,
    stale_after_seconds: float | None = None,
    max_output_tokens: int | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    side_effect: bool = False,
    timeout_seconds: float | None = None,
    stale_after_seconds: float | None = None,
    max_output_tokens: int | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a typed function, sync or async, a tool; with or without parentheses.

    The docstring's first part says when to use it; parameters may be described in Google, NumPy or
    reST style. Raises ToolError for what cannot be described: ``*args``, ``**kwargs``, positional-only
    parameters, types without a JSON Schema, a name that is not an identifier.
    """

    def define(target: Callable[..., Any]) -> Tool:
        return _define(
            target,
            name or getattr(target, "__name__", ""),
            side_effect=side_effect,
            timeout_seconds=timeout_seconds,
            stale_after_seconds=stale_after_seconds,
            max_output_tokens=max_output_tokens,
        )

    return define if function is None else define(function)


def _define(function: Callable[..., Any], name: str, **metadata: Any) -> Tool:
    if not _NAME.fullmatch(name):
        raise ToolError(
            f"{name!r} cannot be a tool's name: use letters, digits, _ and -, at most 64, not a digit first"
        )
    doc = docstring_parser.parse(inspect.getdoc(function) or "")
    described = {param.arg_name: param.description or "" for param in doc.params}
    fields: dict[str, Any] = {}
    for parameter in _signature(function, name).parameters.values():
        if parameter.kind in _VARIADIC or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise ToolError(
                f"tool {name}: parameter {parameter} cannot be described; give each argument a name and a type"
            )
        annotation = str if parameter.annotation is inspect.Parameter.empty else parameter.annotation
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (annotation, Field(default, description=described.get(parameter.name) or None))
    try:
        arguments = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
        arguments.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, NameError) as error:
        raise ToolError(f"tool {name}: a parameter's type has no JSON Schema: {error}") from error
    return Tool(function, name, _description(doc, name), arguments, **metadata)


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)  # postponed annotations become types
    except (NameError, TypeError, ValueError, AttributeError) as error:
        raise ToolError(f"tool {name}: its signature cannot be read: {error}") from error


def _description(doc: docstring_parser.Docstring, name: str) -> str:
    parts = [doc.short_description, doc.long_description]
    return "\n".join(part for part in parts if part) or name.replace("_", " ")
