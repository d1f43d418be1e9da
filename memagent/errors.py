"""Errors of memagent. Each text says what is wrong and what to do.

MemagentError                    anything memagent refuses or cannot do
├── SettingsError                a setting is missing, malformed or contradicts another
├── ContextError                 a prompt cannot be made to fit
│   └── PromptTooLargeError      host text, host tools and the newest message exceed the window
├── ModelError                   the model could not answer
│   ├── NoModelError             no endpoint, no local server, no model file
│   ├── ModelUnreachableError    nothing answers at the endpoint, or it stopped answering
│   ├── ModelAuthError           the key was refused
│   ├── ModelNotFoundError       the endpoint does not know the model
│   ├── ModelRateLimitError      too many requests, or the quota is used up
│   ├── ContextTooLongError      the server says that the prompt is too long
│   ├── ModelRefusedError        the server refused the request for another reason
│   └── ModelReplyError          the reply cannot be understood, or is empty
├── ModelFileError               a model file is missing, damaged or cannot be fetched
├── EmbedderError                the embedder cannot embed a text
├── ToolError                    a function cannot be a tool as it stands
├── NotFoundError                no memory, entry or session has this id
└── AgentClosedError             the agent was closed before the call
StoreError                       the stores' family: see stores.errors (re-exported here)
"""

from __future__ import annotations

from stores.errors import (
    BlobMissingError,
    DiskFullError,
    StoreBusyError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreVersionError,
)

__all__ = [
    "AgentClosedError",
    "BlobMissingError",
    "ContextError",
    "ContextTooLongError",
    "DiskFullError",
    "EmbedderError",
    "MemagentError",
    "ModelAuthError",
    "ModelError",
    "ModelFileError",
    "ModelNotFoundError",
    "ModelRateLimitError",
    "ModelRefusedError",
    "ModelReplyError",
    "ModelUnreachableError",
    "NoModelError",
    "NotFoundError",
    "PromptTooLargeError",
    "SettingsError",
    "StoreBusyError",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreVersionError",
    "ToolError",
]


class MemagentError(Exception):
    """Anything memagent refuses or cannot do."""


class SettingsError(MemagentError):
    """A setting is missing, malformed or contradicts another."""


class ContextError(MemagentError):
    """A prompt cannot be made to fit."""


class PromptTooLargeError(ContextError):
    """The host's instructions, the host's tools and the newest message leave no room for a reply."""


class ModelError(MemagentError):
    """The model could not answer."""


class NoModelError(ModelError):
    """There is no endpoint, no local server and no model file."""


class ModelUnreachableError(ModelError):
    """Nothing answers at the endpoint, or it stopped answering."""


class ModelAuthError(ModelError):
    """The key was refused."""


class ModelNotFoundError(ModelError):
    """The endpoint does not know the model."""


class ModelRateLimitError(ModelError):
    """Too many requests, or the quota is used up."""


class ContextTooLongError(ModelError):
    """The server says that the prompt is too long."""


class ModelRefusedError(ModelError):
    """The server refused the request for a reason of its own."""


class ModelReplyError(ModelError):
    """The reply cannot be understood, or holds nothing."""


class ModelFileError(MemagentError):
    """A model file is missing, damaged or cannot be fetched."""


class EmbedderError(MemagentError):
    """The embedder cannot embed a text."""


class ToolError(MemagentError):
    """A function cannot be a tool as it stands."""


class NotFoundError(MemagentError):
    """No memory, entry or session of this user has this id."""


class AgentClosedError(MemagentError):
    """The agent was closed before the call."""
