"""What a person attaches to a message."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from pathlib import Path

from memagent.errors import MemagentError
from memagent.sanitize import clean_text
from stores.records import ImagePart

MAX_IMAGE_BYTES = 20 * 1024 * 1024
_SHOWN_AS_IS = ("http://", "https://", "data:image/")


def image_parts(attachments: Sequence[str]) -> tuple[ImagePart, ...]:
    """Images given as path, http(s) or data URL; files are read now. Raises MemagentError."""
    return tuple(_image(str(attachment)) for attachment in attachments)


def _image(attachment: str) -> ImagePart:
    if attachment.startswith(_SHOWN_AS_IS):
        return ImagePart(url=clean_text(attachment))
    if clean_text(attachment) != attachment:
        raise MemagentError(f"{attachment!r} cannot be the name of a file")
    path = Path(attachment).expanduser()
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise MemagentError(f"{path.name} is not an image; only images can be attached")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MemagentError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_IMAGE_BYTES:
        raise MemagentError(f"{path.name} has {len(data):,} bytes; an image may have {MAX_IMAGE_BYTES:,}")
    return ImagePart(url=f"data:{kind};base64,{base64.b64encode(data).decode()}", name=path.name)
