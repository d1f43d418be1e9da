"""A typed function as a tool: name, description and JSON Schema from its signature and docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, overload

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, PydanticSchemaGenerationError, create_model
from pydantic.errors import PydanticUserError
from typing_extensions import Unpack

from memagent.errors import ToolError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


DEFAULT_RETRIES = 2


class Metadata(TypedDict, total=False):
    """What is known of a tool beside its signature; all of it optional. Times in seconds.

    ``side_effect``: it changes something outside, so a person must agree before it runs, and it is never run
    again by itself. ``retryable``: what it raises may pass, so it is tried again with growing pauses, at most
    ``max_retries`` times (2). ``timeout_seconds`` None: the agent's own limit, for each attempt.
    ``cache_seconds``: so long the same arguments give the same result without running it.
    ``stale_after_seconds``: how long a result may be taken for current; None: within its session.
    ``parallel_safe``: it may run beside others; None: unless it has side effects. ``result_evaluatable``: its
    results can be judged for whether they answer the question. ``critical``: without its result the question
    cannot be answered. ``max_output_tokens``: the tool's own cap on what is shown of a result; the rest is kept
    and can be read back. ``groups``: what it is for; of too many tools the groups that matter are offered.
    """

    side_effect: bool
    retryable: bool
    max_retries: int | None
    timeout_seconds: float | None
    cache_seconds: float | None
    stale_after_seconds: float | None
    parallel_safe: bool | None
    result_evaluatable: bool
    critical: bool
    max_output_tokens: int | None
    groups: Sequence[str]


@dataclass(frozen=True)
class Tool:
    """A function the model may call. Calling the object calls the function. The rest as in `Metadata`."""

    function: Callable[..., Any]
    name: str
    description: str
    arguments: type[BaseModel]
    side_effect: bool = False
    retryable: bool = False
    max_retries: int | None = None
    timeout_seconds: float | None = None
    cache_seconds: float | None = None
    stale_after_seconds: float | None = None
    parallel_safe: bool | None = None
    result_evaluatable: bool = False
    critical: bool = False
    max_output_tokens: int | None = None
    groups: Sequence[str] = ()

    def __post_init__(self) -> None:
        if wrong := _contradiction(self):
            raise ToolError(f"tool {self.name}: {wrong}")

    @property
    def retries(self) -> int:
        """How often it is tried again at most."""
        if not self.retryable:
            return 0
        return DEFAULT_RETRIES if self.max_retries is None else self.max_retries

    @property
    def runs_beside_others(self) -> bool:
        """Whether it may run while other calls of the same turn do."""
        return not self.side_effect if self.parallel_safe is None else self.parallel_safe

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
def tool(*, name: str | None = None, **metadata: Unpack[Metadata]) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, **metadata: Unpack[Metadata]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a typed function, sync or async, a tool; with or without parentheses.

    The docstring's first part says when to use it; parameters may be described in Google, NumPy or
    reST style. Raises ToolError for what cannot be described: ``*args``, ``**kwargs``, positional-only
    parameters, types without a JSON Schema, a name that is not an identifier; and for metadata that contradict
    each other.
    """

    def define(target: Callable[..., Any]) -> Tool:
        return _define(target, name or getattr(target, "__name__", ""), metadata)

    return define if function is None else define(function)


def _contradiction(made: Tool) -> str:
    """What cannot be meant, in words; "" if all is well."""
    if made.side_effect and made.retryable:
        return "what has side effects is never tried again by itself; leave out retryable"
    if made.side_effect and made.cache_seconds:
        return "what has side effects is not answered from a cache; leave out cache_seconds"
    if made.max_retries is not None and not made.retryable:
        return "max_retries says how often it is tried again; add retryable=True"
    if made.max_retries is not None and made.max_retries < 0:
        return "max_retries is 0 or more"
    for name in ("timeout_seconds", "cache_seconds", "stale_after_seconds", "max_output_tokens"):
        value: float | None = getattr(made, name)
        if value is not None and not value > 0:
            return f"{name} is more than 0, or None"
    if isinstance(made.groups, str):
        return "groups are a list of names"
    return ""


def _define(function: Callable[..., Any], name: str, metadata: Metadata) -> Tool:
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
