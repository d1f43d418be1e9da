"""memagent: an agent whose context is a white box. The names here are the public ones.

Importing the package loads nothing heavy; each name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memagent.agent.facade import Agent, AsyncAgent
    from memagent.agent.reply import Reply
    from memagent.context.assemble import Prompt
    from memagent.context.manifest import Manifest
    from memagent.context.view import Summary
    from memagent.errors import ContextError, MemagentError, ModelError, PromptTooLargeError
    from memagent.events import Event
    from memagent.memory.erase import Receipt
    from memagent.memory.hits import HistoryHit
    from memagent.memory.recall import Recalled
    from memagent.settings import Settings, load_settings
    from memagent.tools.approval import Decision
    from memagent.tools.definition import tool
    from memagent.tools.progress import report
    from stores.errors import StoreError
    from stores.records import Memory, Message, Session

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AsyncAgent",
    "ContextError",
    "Decision",
    "Event",
    "HistoryHit",
    "Manifest",
    "MemagentError",
    "Memory",
    "Message",
    "ModelError",
    "Prompt",
    "PromptTooLargeError",
    "Recalled",
    "Receipt",
    "Reply",
    "Session",
    "Settings",
    "StoreError",
    "Summary",
    "__version__",
    "load_settings",
    "report",
    "tool",
]

_HOMES = {
    "Agent": "memagent.agent.facade",
    "AsyncAgent": "memagent.agent.facade",
    "ContextError": "memagent.errors",
    "Decision": "memagent.tools.approval",
    "Event": "memagent.events",
    "HistoryHit": "memagent.memory.hits",
    "Manifest": "memagent.context.manifest",
    "MemagentError": "memagent.errors",
    "ModelError": "memagent.errors",
    "PromptTooLargeError": "memagent.errors",
    "Memory": "stores.records",
    "Message": "stores.records",
    "Prompt": "memagent.context.assemble",
    "Receipt": "memagent.memory.erase",
    "Recalled": "memagent.memory.recall",
    "Reply": "memagent.agent.reply",
    "Session": "stores.records",
    "Settings": "memagent.settings",
    "StoreError": "stores.errors",
    "Summary": "memagent.context.view",
    "load_settings": "memagent.settings",
    "report": "memagent.tools.progress",
    "tool": "memagent.tools.definition",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'memagent' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
