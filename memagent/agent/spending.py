"""What one exchange may take of the model."""

from __future__ import annotations

from memagent.agent.rooms import Rooms
from memagent.events import Usage
from memagent.llm.client import ChatModel


def over_budget(rooms: Rooms, model: ChatModel, usage: Usage) -> bool:
    """Whether the calls so far have used up what an exchange may take (`exchange_tokens`, `exchange_usd`). A
    model without a known price costs nothing."""
    settings = rooms.settings
    tokens = usage.prompt_tokens + usage.completion_tokens
    if settings.exchange_tokens is not None and tokens >= settings.exchange_tokens:
        return True
    if settings.exchange_usd is None:
        return False
    cost = rooms.cost_usd(model.profile.name, model.endpoint, usage)
    return cost is not None and cost >= settings.exchange_usd
