"""What genai-prices knows of hosted models. Its only user; loading it takes a quarter of a second."""

from __future__ import annotations

import genai_prices
from genai_prices.types import PriceCalculation

from memagent.events import Usage
from memagent.llm.fetch import is_loopback
from memagent.llm.tokens import encoding_for


def context_window(model: str, base_url: str) -> int | None:
    """Tokens of the model's window; None if not known."""
    found = _calculation(model, base_url, Usage())
    return found.model.context_window if found else None


def cost_usd(model: str, base_url: str, usage: Usage) -> float | None:
    """What a call cost; None if the price is not known (a server on this machine, an unknown host)."""
    found = _calculation(model, base_url, usage)
    return float(found.total_price) if found else None


def _calculation(model: str, base_url: str, usage: Usage) -> PriceCalculation | None:
    """By endpoint and name. Behind a host it does not know only OpenAI's own names are taken at their
    word: others are given to models of every size."""
    if is_loopback(base_url):
        return None
    amounts = genai_prices.Usage(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=usage.cached_tokens,
        output_tokens=usage.completion_tokens,
    )
    try:
        return genai_prices.calc_price(amounts, model, provider_api_url=base_url)
    except LookupError:
        if not encoding_for(model)[1]:
            return None
    try:
        return genai_prices.calc_price(amounts, model.rsplit("/", 1)[-1], provider_id="openai")
    except LookupError:
        return None
