"""What exists once the model is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memagent.agent.compacting import Compactor
from memagent.agent.composing import Composer
from memagent.agent.learning import Learner
from memagent.agent.overflowing import Overflowing
from memagent.agent.revising import Reviser
from memagent.llm.client import ChatModel
from memagent.llm.tokens import TokenCounter
from memagent.tools.definition import Tool
from memagent.tools.running import Runner


@dataclass(frozen=True, slots=True)
class Opened:
    """One model and what works with it. ``tools`` are all that may be called, by name."""

    model: ChatModel
    counter: TokenCounter
    composer: Composer
    compactor: Compactor
    reviser: Reviser
    overflowing: Overflowing
    learner: Learner
    tools: Mapping[str, Tool]
    runner: Runner
