"""Opening the model, and what works with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memagent.agent.compacting import Compactor
from memagent.agent.composing import Composer
from memagent.agent.helper_calls import HelperModel
from memagent.agent.learning import Learner
from memagent.agent.offering import Offering
from memagent.agent.opened import Opened
from memagent.agent.overflowing import Overflowing
from memagent.agent.revising import Reviser
from memagent.agent.rooms import Rooms
from memagent.llm.tokens import TokenCounter
from memagent.tools.approval import Consent
from memagent.tools.definition import Tool
from memagent.tools.running import Runner


async def open_with(rooms: Rooms, own_tools: Mapping[str, Tool], learner: Learner) -> Opened:
    """Opens the rooms' model; it is offered memagent's own tools if it calls any, and the learner begins with
    it. May take seconds. Raises a ModelError, StoreError."""
    model = await rooms.open_model()
    profile = model.profile
    counter = TokenCounter(profile.encoding, profile.exact, profile.image_tokens)
    own: Mapping[str, Tool] = own_tools if profile.calls_tools else {}
    schemas = tuple(t.schema() for name, t in own.items() if name not in rooms.host_tools)
    offer = replace(rooms.offer, own_tools=schemas)
    offering = Offering(offer, list(rooms.host_tools.values()), rooms.settings.offered_tools)
    tools = {**own, **offering.finders, **rooms.host_tools}
    if profile.notice:
        rooms.notices.append(profile.notice)
    composer = Composer(rooms, model, counter, offering)
    try:
        await composer.learn()
    except BaseException:
        await model.close()
        raise
    helper = HelperModel(rooms, model, counter)
    learner.start(helper, composer, profile)
    return Opened(
        model=model,
        counter=counter,
        composer=composer,
        compactor=Compactor(rooms, composer, helper, counter),
        learner=learner,
        reviser=Reviser(rooms, composer, counter),
        overflowing=Overflowing(rooms, counter, lambda: composer.budget, tools),
        tools=tools,
        runner=Runner(
            tools,
            Consent(rooms.approve, rooms.settings.approval_timeout_seconds),
            timeout_seconds=rooms.settings.tool_timeout_seconds,
        ),
    )
