"""What a tool returned, as text for the model. Never raises, never blank."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from memagent.sanitize import clean_output


def to_text(value: object) -> str:
    """Text as it is, cleaned; None and "" say so; everything else as JSON: dates in ISO form, NaN as
    null, bytes in base64 with their length, unknown objects by their repr."""
    if value is None:
        return "(no output)"
    if isinstance(value, str):
        return clean_output(value) or "(empty text)"
    if isinstance(value, bytes | bytearray):
        value = {"bytes": len(value), "base64": bytes(value)}
    try:
        text = to_json(value, inf_nan_mode="null", bytes_mode="base64", fallback=_described).decode()
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        return error_text("unreadable_result", f"the result of type {type(value).__name__} cannot be shown: {error}")
    return clean_output(text) or "(empty text)"


def error_text(kind: str, message: str, hint: str = "") -> str:
    """A failure as data for the model: {error, message, hint}."""
    body = {"error": kind, "message": clean_output(message) or kind}
    return json.dumps({**body, "hint": hint} if hint else body, ensure_ascii=False)


def _described(value: Any) -> Any:
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if hasattr(value, "__next__"):
        return list(value)
    return repr(value)
