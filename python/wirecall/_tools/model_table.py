"""Models that write no native format, and words that say nothing of it: data of `model=`.

The models of a format are in its row (`rust/core/src/formats/rows/`). A pattern is a model's name
in lower case, with `-` between words. `*` is any number of sizes, dates, quantisations and the like; they
may also follow the name. Of several patterns that match, the longest one decides. A model is missing if its
documentation does not say clearly what it writes.
"""

from functools import cache
from typing import NamedTuple

from wirecall._core import native_formats


class Entry(NamedTuple):
    """Models that write their calls in one format."""

    patterns: str
    """Names, separated by spaces."""
    protocol: str | None
    """The name of the protocol, which also says whether messages begin in reasoning. None: the models have no
    format of their own."""
    source: str
    """Where the format of these models is documented."""
    chat: str = ""
    """Words: one of them is in the name of each chat model, and none in those of base models."""
    several: str = ""
    """Why the name alone does not tell what it writes; `protocol` is then None."""


RECIPES = "vLLM recipes, models"
LLAMA_CPP = "llama.cpp, docs/function-calling.md"
GEMMA_2 = "llama.cpp, models/templates/google-gemma-2-2b-it.jinja"
OLLAMA = "the tags of Ollama's library"

NO_FORMAT = (
    Entry("qwen3-next", None, OLLAMA, several="it is the Instruct or the Thinking model"),
    Entry(
        "deepseek-r1-8b deepseek-r1-671b deepseek-r1-latest",
        None,
        OLLAMA,
        several="the tag was moved from R1 to R1-0528, which begins its messages in another way",
    ),
    Entry(
        "olmo-3.1 olmo-3",
        None,
        OLLAMA,
        chat="instruct think",
        several="it is the Instruct or the Think model",
    ),
    Entry(
        "deepseek-v3.2-exp",
        None,
        RECIPES,
        several="the recipes read it as V3.2, its own template as V3.1",
    ),
    Entry("glm-ga", None, RECIPES, several="it is documented with the formats of GLM 4.5 and of GLM 4.7"),
    Entry(
        "macaron-v1-coding-venti laguna-m-1 flint",
        None,
        RECIPES,
        several="it writes calls as GLM 4.7 does, but where a message begins is not documented",
    ),
    Entry(
        "mellum2-*-thinking param2-*-thinking",
        None,
        RECIPES,
        several="it writes calls as Hermes does, but where a message begins is not documented",
    ),
    Entry(
        "exaone-4.5 exaone-4.0.1 exaone-4.0 k-exaone",
        None,
        "vLLM, pull request 22617",
        several="it writes calls as Hermes does, but where a message begins is not documented",
    ),
    Entry(
        "step-5-preview",
        None,
        RECIPES,
        several="its format is not read yet",
    ),
    Entry("gemma-3n gemma-3 gemma-2 gemma codegemma", None, GEMMA_2),
    Entry("phi-4 phi-3.5-mini phi-3.5-moe phi-3-mini phi-3-medium phi-3-small", None, LLAMA_CPP),
    Entry("llama-3 llama-2 codellama", None, LLAMA_CPP),
    Entry("qwen2-vl qwen2 qwen1.5", None, LLAMA_CPP),
    Entry("mixtral-8x7b-*-v0.1 mistral-7b-*-v0.1 mistral-7b-*-v0.2", None, LLAMA_CPP),
    Entry("glm-4-*-chat smollm2 exaone-3.5 minimax-text-01", None, LLAMA_CPP),
)


@cache
def entries() -> tuple[Entry, ...]:
    """The models of all formats, and those that have none."""
    rows = native_formats()
    return (
        *(Entry(names, row["name"], source, chat) for row in rows for names, source, chat in row["models"]),
        *NO_FORMAT,
    )


# Beginnings of names that only an API serves.
API_ONLY = """
    gpt-3.5 gpt-4 gpt-4o gpt-4.1 gpt-5 chatgpt o1 o3 o4 codex claude gemini grok-3 grok-4 grok-code
    nova-lite nova-micro nova-premier nova-pro amazon-nova qwen-max qwen-plus qwen-turbo qwen3-max
    qwen2.5-max qwen2.5-plus qwen2.5-turbo qwen3.5-plus qwen3.5-flash qwen3.5-turbo kimi-k2-turbo glm-5-turbo
    mistral-large-2402
"""

# Words that say nothing of the format: sizes, context lengths, dates, quantisations, packaging. Regular
# expressions of whole words.
NEUTRAL = r"""
    [aex]?\d+(?:[._]\d+)?[bmt] \d+x\d+(?:\.\d+)?b \d+e \d+k \d{4} \d{6} \d{8} 0[1-9] 1[0-2]
    instruct chat it preview latest cloud free hf instruct[-_]turbo instruct[-_]fast maas versatile
    instant main local
    gguf ggml safetensors exl2 exl3 awq gptq mlx onnx bnb unsloth abliterated fixed imatrix imat i1 ud
    qat ct mobile dwq autoround
    dynamic block quantized quant bit \d+bits? compressed tensors i?q\d [01] [kmsl] xl xs xxs nl
    (?:int|uint|fp|f|nvfp|mxfp|mxint)\d+(?:a\d+)? quark mtp bf16 nf4 w\d+a\d+ g\d+ gs\d+ \d{5} of
"""

# Who published a model, where that is written before its name without a slash.
PUBLISHERS = """
    ai21 ai21labs amd bartowski bytedance c4ai cohere coherelabs cohereforai deepseek-ai
    fireworks-ai google huihui-ai ibm ibm-granite inclusionai llm-jp lmstudio-community meetkai meta
    meta-llama microsoft minimaxai mistral mistralai mlx-community moonshotai nousresearch nvidia
    openai openbmb poolside qwen redhatai salesforce tencent thudm tiiuae unsloth upstage xiaomimimo
    zai zai-org
"""

# Further parts of a path that name no model.
PLACES = r"""
    model models snapshots weights resolve blob blobs default [0-9a-f]{40} [0-9a-f]{64}
"""
