"""The typed events that every surface consumes: what happens while a message is answered.

Order within one exchange: any `Notice`, `ProfileProposed` and `Compacted` of background work first, then
`Recalled`, then per turn `Compacting` and `Compacted` if the prompt would not fit, `TextDelta`s and, if the
model calls tools, for each call `ApprovalAsked` and `ApprovalDecided` if it needs consent, `ToolStarted`,
`ToolProgress` and `ToolFinished`; `StateChanged` stands before what happens in the new state. `Finished` comes once
and last (none if an error is raised). Surfaces ignore types that they do not know.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FinishReason = Literal[
    "stop",
    "length",
    "turn_limit",
    "no_progress",
    "time_limit",
    "spend_limit",
    "approval",
    "cancelled",
    "partial",
    "refused",
]
State = Literal["planning", "executing", "observing", "final"]
"""What the agent does: the model thinks or writes; tools run; their results are looked at; it is over."""


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = 1


class Notice(_Event):
    """Something the person should know: a guess, a repair, a write that failed."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str


class ProfileProposed(_Event):
    """A fact that was learned may belong in the profile, which stands in every prompt: the person decides
    (`pin`, `unpin`)."""

    type: Literal["profile_proposed"] = "profile_proposed"
    memory_id: str
    text: str


class StateChanged(_Event):
    """The agent goes over to this state. Every exchange begins with "planning" and ends with "final"."""

    type: Literal["state"] = "state"
    state: State


class Recalled(_Event):
    """Which memories were put beside the message (ids, best first)."""

    type: Literal["recalled"] = "recalled"
    memory_ids: tuple[str, ...]


class Compacting(_Event):
    """The prompt would not fit: the answer waits until older talk is summarised."""

    type: Literal["compacting"] = "compacting"


class Compacted(_Event):
    """Older talk left the prompt; all of it stays in the journal, and `undo` brings it back.

    ``exchanges`` were summarised, of ``freed`` tool results only references are left, ``turns`` of the
    exchange being answered were summarised. Figures are tokens of the prompt without the newest message.
    ``extract``: no model could summarise, sentences were taken out instead.
    """

    type: Literal["compacted"] = "compacted"
    cause: str
    exchanges: int
    freed: int = 0
    turns: int = 0
    before_tokens: int
    after_tokens: int
    extract: bool = False


class TextDelta(_Event):
    """The next piece of the answer."""

    type: Literal["text"] = "text"
    text: str


class ApprovalAsked(_Event):
    """A call waits for the person's consent. ``arguments``, JSON text, is what would run. ``pending``: nobody
    is asked now, the exchange ends and the call waits (see `Agent.decide`)."""

    type: Literal["approval_asked"] = "approval_asked"
    call_id: str
    name: str
    arguments: str
    pending: bool = False


class ApprovalDecided(_Event):
    """What was decided about a call, and why. ``by`` "nobody": no person did."""

    type: Literal["approval_decided"] = "approval_decided"
    call_id: str
    name: str
    verdict: Literal["yes", "no", "always"]
    reason: str = ""
    by: Literal["person", "nobody"] = "person"


class ToolStarted(_Event):
    """A call is about to run. ``arguments``, JSON text, is what it runs with."""

    type: Literal["tool_started"] = "tool_started"
    call_id: str
    name: str
    arguments: str


class ToolProgress(_Event):
    """What a running tool says of how far it is (`memagent.report`). The model does not see it."""

    type: Literal["tool_progress"] = "tool_progress"
    call_id: str
    text: str


class ToolFinished(_Event):
    """A call's result, as the model will see it at most."""

    type: Literal["tool_finished"] = "tool_finished"
    call_id: str
    name: str
    content: str
    failed: bool = False


class Usage(BaseModel):
    """Tokens of one or more model calls. ``estimated`` when the server did not report them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            estimated=self.estimated or other.estimated,
        )


class Finished(_Event):
    """The end of the exchange: the whole answer, journalled before this event is given out."""

    type: Literal["finished"] = "finished"
    text: str
    finish_reason: FinishReason
    usage: Usage
    session_id: str
    exchange_id: str


Event = Annotated[
    Notice
    | ProfileProposed
    | StateChanged
    | Recalled
    | Compacting
    | Compacted
    | TextDelta
    | ApprovalAsked
    | ApprovalDecided
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | Finished,
    Field(discriminator="type"),
]
