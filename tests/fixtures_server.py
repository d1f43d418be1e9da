"""The fixture `scripted`: a running scripted server whose script must come out even."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scripted_server import ScriptedServer


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """Add steps with ``scripted.add(…)``. Fails the test if a request was malformed or unexpected or a
    step was left over; a test that means such things calls ``scripted.forgive()``."""
    with ScriptedServer() as server:
        yield server
        server.check()
