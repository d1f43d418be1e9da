"""What a tool returned, as text for the model. Never raises, never blank."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any, Literal, cast

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from memagent.sanitize import clean_output

MAX_BYTES_SHOWN = 262_144
"""More than that no model reads; a file's path says more."""
BYTES_BEGIN = 3_072


def to_text(value: object) -> str:
    """Text as it is, cleaned; None and a blank text say so; everything else as JSON: dates in ISO form, NaN as
    null, unknown objects by their repr; bytes in base64 with their length, of very many only the beginning."""
    if value is None:
        return "(no output)"
    if isinstance(value, str):
        return _not_blank(clean_output(value))
    if isinstance(value, bytes | bytearray | memoryview):
        value = _of_bytes(bytes(cast(bytes, value)))
    try:
        text = _as_json(value)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        return error_text("unreadable_result", f"the result of type {type(value).__name__} cannot be shown: {error}")
    return _not_blank(clean_output(text))


def _not_blank(text: str) -> str:
    return text if text.strip() else "(empty text)"


def _of_bytes(content: bytes) -> dict[str, Any]:
    if len(content) <= MAX_BYTES_SHOWN:
        return {"bytes": len(content), "base64": b64encode(content).decode()}
    begin = b64encode(content[:BYTES_BEGIN]).decode()
    return {"bytes": len(content), "note": f"only the first {BYTES_BEGIN:,} are shown and kept", "base64": begin}


def _as_json(value: object) -> str:
    try:
        return to_json(value, inf_nan_mode="null", bytes_mode="base64", fallback=_described).decode()
    except PydanticSerializationError as error:
        if "surrogates not allowed" not in str(error):
            raise
    # json escapes a lone surrogate inside; it is a character again afterwards, and cleaned like any other
    plain = to_jsonable_python(value, inf_nan_mode="null", bytes_mode="base64", fallback=_described)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


ErrorType = Literal["arguments", "tool", "timeout", "approval"]
"""Where a failure lies: in what was asked for, in the tool, in its time limit, in the person's consent."""


def error_text(kind: str, message: str, hint: str = "", *, fault: ErrorType = "tool") -> str:
    """A failure as data for the model: {error, type, message, hint}, the hint only where there is one."""
    body = {"error": kind, "type": fault, "message": clean_output(message) or kind}
    return json.dumps({**body, "hint": hint} if hint else body, ensure_ascii=False)


def refusal(name: str, reason: str, *, by_nobody: bool) -> str:
    """Why a call with side effects did not run, as data for the model. ``by_nobody``: no person said no."""
    if by_nobody:
        return error_text("not_approved", f"{name} has side effects and {reason}; it did not run", fault="approval")
    said = f"denied by the user: {reason}" if reason else "denied by the user"
    hint = "do not call it again unless the user asks for it"
    return error_text("denied", f"{said}; {name} did not run", hint, fault="approval")


def _described(value: Any) -> Any:
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if hasattr(value, "__next__"):
        return list(value)
    return repr(value)
