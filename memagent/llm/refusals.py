"""What a server's refusal means: which error, and whether trying again can help."""

from __future__ import annotations

import random
import re
from urllib.parse import urlsplit

from memagent.errors import (
    ContextTooLongError,
    ModelAuthError,
    ModelError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelUnreachableError,
)
from memagent.llm.overflow import Complaint, is_context_too_long

RETRY_AFTER_LIMIT_SECONDS = 20.0
FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 8.0
_UNKNOWN_MODEL = re.compile(r"model\b.*(not found|does not exist|not exist|unknown)|not a valid model", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|insufficient balance|billing", re.IGNORECASE)


class FailedError(Exception):
    """An attempt failed before any text came; never leaves `OpenAIChat`.

    ``times``: how often it may be tried again (None: as often as the settings say);
    ``after_seconds``: the server's wish.
    """

    def __init__(self, error: ModelError, *, times: int | None = 0, after_seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.times = times
        self.after_seconds = after_seconds


def refusal(
    complaint: Complaint, *, endpoint: str, model: str, has_key: bool, after_seconds: float | None = None
) -> FailedError:
    """The failure that an error answer, or an error event in a stream, stands for."""
    status, text = complaint.status, complaint.text
    said = (f" ({status})" if status is not None else "") + (f": {text}" if text else "")
    if is_context_too_long(complaint):
        return FailedError(ContextTooLongError(f"{endpoint} says that the prompt is too long{said}"))
    if status in (401, 403):
        what = "the key was refused by" if has_key else "a key is needed at"
        return FailedError(ModelAuthError(f"{what} {endpoint}{said}; set MEMAGENT_API_KEY or OPENAI_API_KEY"))
    if status == 402 or (status == 429 and _QUOTA.search(f"{complaint.code} {text}")):
        return FailedError(ModelRateLimitError(f"the quota at {endpoint} is used up{said}"))
    if status == 429:
        wait = f"; it asks to wait {after_seconds:.0f} s" if after_seconds else ""
        patient = after_seconds is None or after_seconds <= RETRY_AFTER_LIMIT_SECONDS
        error = ModelRateLimitError(f"too many requests at {endpoint}{said}{wait}")
        return FailedError(error, times=None if patient else 0, after_seconds=after_seconds)
    if status == 404 or complaint.code == "model_not_found" or (status == 400 and _UNKNOWN_MODEL.search(text)):
        return FailedError(ModelNotFoundError(f"{endpoint} does not know the model {model!r}{said}"))
    if status is None or status in (408, 409) or status >= 500:
        error = ModelUnreachableError(f"{endpoint} failed{said}; try again later")
        return FailedError(error, times=None, after_seconds=after_seconds)
    return FailedError(ModelRefusedError(f"{endpoint} refused the request{said}"))


def delay_seconds(attempt: int, wished_seconds: float | None, first_seconds: float = FIRST_DELAY_SECONDS) -> float:
    """The server's wish up to its limit, else the first delay doubled with each attempt, up to 8 s,
    spread by a quarter."""
    if wished_seconds is not None and wished_seconds <= RETRY_AFTER_LIMIT_SECONDS:
        return wished_seconds
    return min(_LONGEST_DELAY_SECONDS, first_seconds * 2 ** (attempt - 1)) * random.uniform(0.75, 1.25)


def endpoint_name(base_url: str) -> str:
    """The address without anything that may be secret (user, password, query)."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
