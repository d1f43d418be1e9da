"""Every text that memagent itself puts into a prompt, one file each.

A file starts with a line ``version: N``; the rest is the text, with ``$name`` where a value goes.
Values from outside are data: those that stand inside a fence are passed through `fenced`.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from string import Template

FENCE = "context"
"""The name of the fence around recalled text and the date."""

# A model reads a tag through invisible characters, odd slashes, full-width letters and HTML escapes.
_UNSEEN = "\\s\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_LETTERS = f"[{_UNSEEN}]*".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in FENCE)
_TAG = re.compile(rf"(?:[<＜﹤]|&lt;?|&#(?:60|x3c);?)(?=[{_UNSEEN}/\\!?／∕⁄]*{_LETTERS}(?![^\W_]))", re.IGNORECASE)


@cache
def _load(name: str) -> tuple[int, str]:
    head, _, body = (files("memagent.prompts") / f"{name}.txt").read_text("utf-8").partition("\n")
    return int(head.removeprefix("version:")), body.rstrip("\n")


def text(name: str, **values: str) -> str:
    """The text of a prompt file with its values filled in. A missing value raises KeyError."""
    body = _load(name)[1]
    return Template(body).substitute(values) if values else body


def version(name: str) -> int:
    """The version of a prompt file."""
    return _load(name)[0]


@cache
def fingerprint() -> str:
    """Of all prompt files; another one means that the same entries may be rendered in other words."""
    names = sorted(file.name for file in files("memagent.prompts").iterdir() if file.name.endswith(".txt"))
    digest = hashlib.blake2b(digest_size=8)
    for name in names:
        digest.update(f"{name}\n{_load(name.removesuffix('.txt'))[1]}\n".encode())
    return digest.hexdigest()


def fenced(value: str) -> str:
    """A value that can neither close nor open the fence it stands in: its tags lose their bracket."""
    return _TAG.sub("‹", value)
