"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="2,000 examples a property test, not 30")
    parser.addoption("--long-talk", action="store_true", help="only the long talks with a real model of 1.5B")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long talks are a run of their own: they take longer than all the others together."""
    wanted = bool(config.getoption("--long-talk"))
    left_out = [item for item in items if (item.get_closest_marker("long_talk") is not None) != wanted]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
