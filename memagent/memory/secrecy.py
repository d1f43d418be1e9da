"""Whether a text holds a password, a key or a token: such things are not learned by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

_DETECTORS = (
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "JwtTokenDetector",
    "KeywordDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)
"""Those of fixed form. The library's entropy detectors take long names and hashes for secrets."""
_SETTINGS: Mapping[str, Any] = {"plugins_used": [{"name": name} for name in _DETECTORS]}
# The library reads source code; people write prose.
_TOLD = re.compile(
    r"\b(?:pass(?:word|phrase|code|wort)|kennwort|mot de passe|contraseña|"
    r"(?:api|secret|private|access|licen[cs]e) (?:key|token)|cvv)\b"
    r"[^.!?\n]{0,30}?(?:\b(?:is|are|was|ist|lautet|est|es)\b|[:=])\s*\S+"
    r"|\bpin\b[^.!?\n]{0,30}?\d{3}"
    r"|(?:密码|口令|密钥)[^。！？\n]{0,10}?(?:是|为|[:：=])\s*\S+",
    re.IGNORECASE,
)


def holds_secret(text: str) -> bool:
    """By fixed forms (keys of known services, private keys, tokens) and by "password is …" in prose."""
    if _TOLD.search(text):
        return True
    with transient_settings(dict(_SETTINGS)):
        return any(True for line in text.splitlines() for _ in scan_line(line))
