"""Text as it may travel: what enters memagent is cleaned once, here, before it is stored or sent.

Healthy text, with emoji, accents, tabs and newlines, comes back unchanged.
"""

from __future__ import annotations

import re

from memagent.errors import SettingsError

_SURROGATE = re.compile("[\ud800-\udfff]")
# CSI and OSC sequences first, so that their parameters go with them; then lone two-character escapes.
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]|\x1b"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Tags (but in the flags of England, Scotland and Wales), which nobody sees and models read; what turns the direction
# of writing around, so that something else is shown than stands there.
_UNSEEN = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_SPACES = re.compile(r"[^\S\n]+")
_REDRAWN = re.compile(r"[^\r\n]*\r(?!\n)")


def clean_text(text: str) -> str:
    """Lone surrogates become U+FFFD and NUL goes: JSON, SQLite and Chroma refuse both."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    # isascii is a flag of the string: the common case costs nothing
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def checked_name(what: str, name: str | None) -> str | None:
    """The name of a user or a session. Raises SettingsError for one with NUL or lone surrogates: cleaned
    it could be another's."""
    if name and clean_text(name) != name:
        raise SettingsError(f"{what}: {name!r} holds characters that cannot be stored; choose another name")
    return name


def clean_output(text: str) -> str:
    """A program's output: also without terminal escapes and control characters, and of a line that
    was redrawn after a carriage return only the last state."""
    text = clean_text(text)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = _REDRAWN.sub("", text.replace("\r\n", "\n"))
    return _CONTROL.sub("", text)


def clean_foreign(text: str) -> str:
    """What was written elsewhere: also without terminal escapes, control characters, and characters that hide text
    from the reader."""
    text = clean_text(text)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    text = _CONTROL.sub("", text)
    return text if text.isascii() else _UNSEEN.sub(r"\1", text)


def as_read(text: str) -> str:
    """As a reader sees it, for matching only: without characters that show nothing, any space being one space."""
    return _SPACES.sub(" ", text if text.isascii() else _INVISIBLE.sub("", text))
