"""Secrets: keys, tokens and passwords, by a kept library's rules for those of fixed form, and by "password is …"
in prose. They are not learned by themselves, and are taken out of a text that leaves memagent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Protocol

REMOVED = "[secret removed]"
LONGEST_LINE = 10_000
"""Of a longer line (data, not prose) only so much is looked at a time."""

_DETECTORS = (
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("basic_auth", "BasicAuthDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
"""The library's entropy detectors take long names and hashes for secrets; its keyword detector reads code."""
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_TOLD = re.compile(
    r"(\b(?:pass(?:word|phrase|code|wort)|kennwort|mot de passe|contraseña|cvv|"
    r"(?:api|secret|private|access|licen[cs]e)[ _-]?(?:key|token))s?\b"
    r"[^.!?\n]{0,30}?(?:\b(?:is|are|was|ist|lautet|est|es)\b|[:=])\s*)(\S+)"
    r"|(\bpin\b[^.!?\n]{0,30}?)(\d{3,})"
    r"|((?:密码|口令|密钥)[^。！？\n]{0,10}?(?:是|为|[:：=])\s*)(\S+)",
    re.IGNORECASE,
)


class _Detector(Protocol):
    @property
    def denylist(self) -> Iterable[re.Pattern[str]]: ...


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    # late: the library takes a tenth of a second
    detectors: list[_Detector] = [
        getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _DETECTORS
    ]
    return tuple(pattern for detector in detectors for pattern in detector.denylist)


def holds_secret(text: str) -> bool:
    """Whether anything in it would be taken out."""
    return redacted(text) != text


def redacted(text: str) -> str:
    """The text with REMOVED in the place of each secret that was found."""
    text = _PRIVATE_KEY.sub(REMOVED, text)
    found: set[str] = set()
    for line in text.splitlines():
        for start in range(0, len(line), LONGEST_LINE):
            part = line[start : start + LONGEST_LINE]
            found |= {match.group() for pattern in _patterns() for match in pattern.finditer(part)}
    for secret in sorted(found, key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    return _TOLD.sub(_without_value, text)


def _without_value(match: re.Match[str]) -> str:
    return next(group for group in match.groups()[::2] if group is not None) + REMOVED
