"""What is put before a session's talk: instructions, and of too many tools those that fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memagent.agent.marks import text_hash
from memagent.agent.session_view import SessionView
from memagent.context.assemble import Offer
from memagent.tools.definition import Tool
from memagent.tools.selection import finding_tools, selected

KEPT = 16
"""Of so many views the choice is kept."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An offer, the same as text, and that text's hash."""

    offer: Offer
    text: str
    digest: str

    @classmethod
    def of(cls, offer: Offer) -> Offered:
        """With its text and hash."""
        text = offer.as_text()
        return cls(offer, text, text_hash(text))


class Offering:
    """Chooses among a host's ``tools`` if there are more than ``most``. A choice holds until the view changes: at a
    compaction the prefix breaks anyway. It follows from what the view begins with, so that another process makes
    the same one."""

    def __init__(self, offer: Offer, tools: Sequence[Tool], most: int) -> None:
        self._offer = offer
        self._tools = tools
        self._most = most
        self._finders = finding_tools(tools) if len(tools) > most else []
        self._chosen: dict[tuple[str, str], Offered] = {}
        self.whole = Offered.of(offer if not self._finders else self._with(selected(tools, "", most)))
        """What is offered where nothing is chosen yet."""

    @property
    def finders(self) -> dict[str, Tool]:
        """The tools by which the others are found and used; none if all are offered."""
        return {each.name: each for each in self._finders}

    def offered(self, view: SessionView, message: str) -> Offered:
        """What is offered in the view, whose first message this is if it has none yet."""
        if not self._finders:
            return self.whole
        key = (view.session_id, view.cut_id)
        if (known := self._chosen.get(key)) is not None:
            return known
        first = next((c.exchange.user.content for c in view.window.exchanges if c.exchange.user), message)
        chosen = Offered.of(self._with(selected(self._tools, f"{view.background.text}\n{first}", self._most)))
        while len(self._chosen) >= KEPT:
            self._chosen.pop(next(iter(self._chosen)))
        self._chosen[key] = chosen
        return chosen

    def _with(self, chosen: Sequence[Tool]) -> Offer:
        schemas = tuple(each.schema() for each in (*chosen, *self._finders))
        return replace(self._offer, host_tools=schemas)
