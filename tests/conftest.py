"""Options of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="2,000 examples a property test, not 30")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "quick")
