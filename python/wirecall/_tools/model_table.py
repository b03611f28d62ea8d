"""Which model writes which format: the data of `protocol_for`, one line for each kind of model.

A pattern is a model's name in lower case, with `-` between words. `*` is any number of sizes, dates,
quantisations and the like; they may also follow the name. The first entry that matches decides, so newer and
more special names come first. A model is missing if its documentation does not say clearly what it writes.
"""

from typing import NamedTuple


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


VLLM = "vLLM, docs/features/tool_calling.md"
RECIPES = "vLLM recipes, models/"
SGLANG = "SGLang, function_call_parser.py"
COOKBOOK = "SGLang cookbook, docs/autoregressive/"
LLAMA_CPP = "llama.cpp, docs/function-calling.md"
TEMPLATE = "llama.cpp, models/templates/"
OLLAMA = "the tags of Ollama's library"

ENTRIES = (
    # Qwen, and what others derive from it
    Entry("qwen3.5-0.8b qwen3.5-2b", "qwen3coder", "TRL, trl/chat_templates/README.md"),
    Entry("qwen3.8 qwen3.6 qwen3.5", "qwen3.5", RECIPES + "Qwen"),
    Entry("intern-s2-preview", "qwen3.5", RECIPES + "internlm/Intern-S2-Preview.yaml"),
    Entry("trinity-large-thinking", "qwen3.5", RECIPES + "arcee-ai/Trinity-Large-Thinking.yaml"),
    Entry("minicpm-v-4.6-thinking", "qwen3.5", RECIPES + "openbmb/MiniCPM-V-4.6.yaml"),
    Entry("minicpm-v-4.6", "qwen3coder", RECIPES + "openbmb/MiniCPM-V-4.6.yaml"),
    Entry("qwen3-coder-next qwen3-coder", "qwen3coder", RECIPES + "Qwen"),
    Entry("qwen3-next-*-thinking", "qwen3-thinking", COOKBOOK + "Qwen/Qwen3-Next.md"),
    Entry("qwen3-vl-*-thinking", "qwen3-thinking", COOKBOOK + "Qwen/Qwen3-VL.md"),
    Entry("qwen3-*-thinking", "qwen3-thinking", COOKBOOK + "Qwen/Qwen3.md"),
    Entry("qwen3-next-*-instruct", "hermes", RECIPES + "Qwen"),
    Entry("qwen3-next", None, OLLAMA, several="it is the Instruct or the Thinking model"),
    Entry("qwen3-vl", "hermes", COOKBOOK + "Qwen/Qwen3-VL.md"),
    Entry("qwen3", "hermes", RECIPES + "Qwen"),
    Entry("qwq-*-preview", "hermes", LLAMA_CPP),
    Entry("qwq", "qwen3-thinking", TEMPLATE + "Qwen-QwQ-32B.jinja"),
    Entry("qwen2.5-coder qwen2.5-math qwen2.5-vl qwen2.5", "hermes", LLAMA_CPP, chat="instruct"),
    # Others with the format of Hermes
    Entry("ring-2.5", "qwen3-thinking", COOKBOOK + "InclusionAI/Ring-2.5-1T.md"),
    Entry("ling-2.5", "hermes", COOKBOOK + "InclusionAI/Ling-2.5-1T.md"),
    Entry("mellum2", "hermes", RECIPES + "JetBrains/Mellum2-12B-A2.5B-Instruct.yaml"),
    Entry("trinity-nano trinity-mini", "trinity", "SGLang, trinity_detector.py"),
    Entry("reka-edge", "hermes", TEMPLATE + "Reka-Edge.jinja"),
    Entry("mimo-vl mimo-vl-*-rl mimo-vl-*-sft", "hermes", TEMPLATE + "MiMo-VL.jinja"),
    Entry("bielik-11b-v3.0", "hermes", TEMPLATE + "Bielik-11B-v3.0-Instruct.jinja"),
    Entry("falcon3", "hermes", LLAMA_CPP),
    Entry("hermes-4", "hermes", "the model cards of NousResearch/Hermes-4"),
    Entry("hermes-3 hermes-3-llama-3.1 hermes-3-llama-3.2", "hermes", VLLM),
    Entry("hermes-2-pro hermes-2-pro-llama-3 hermes-2-pro-mistral", "hermes", VLLM),
    Entry("hermes-2-theta hermes-2-theta-llama-3", "hermes", VLLM),
    # Granite
    Entry("granite-4.2", "nemotron-3", "vLLM, parser/granite_thinking.py"),
    Entry("granite-4.1", "hermes", TEMPLATE + "ibm-granite-granite-4.1.jinja"),
    Entry("granite-4.0 granite-4.0-micro granite-4.0-tiny granite-4.0-small", "hermes", VLLM),
    Entry("granite-4.0-h granite-4.0-h-micro granite-4.0-h-tiny granite-4.0-h-small", "hermes", VLLM),
    Entry("granite4 granite4-micro granite4-micro-h granite4-tiny-h granite4-small-h", "hermes", VLLM),
    Entry("granite-3.3 granite-3.2 granite-3.1 granite-3.0", "granite-3", VLLM),
    Entry("granite-*-functioncalling", "granite-20b-fc", VLLM),
    # DeepSeek. DeepSeek-V3.2-Exp is missing: vLLM and SGLang read it in different formats.
    Entry(
        "deepseek-v4.1 deepseek-v4.1-flash deepseek-v4.1-pro", "deepseek-v4.1", "vLLM, parser/deepseek_v41.py"
    ),
    Entry("deepseek-v4 deepseek-v4-flash deepseek-v4-pro", "deepseek-v4", RECIPES + "deepseek-ai"),
    Entry("deepseek-v4-flash-dspark deepseek-v4-pro-dspark", "deepseek-v4", RECIPES + "deepseek-ai"),
    Entry("deepseek-v3.2", "deepseek-v3.2", RECIPES + "deepseek-ai/DeepSeek-V3.2.yaml"),
    Entry("deepseek-v3.1 deepseek-v3.1-terminus", "deepseek-v3.1", COOKBOOK + "DeepSeek/DeepSeek-V3_1.md"),
    Entry("deepseek-r1-*-0528 deepseek-r1-*-0528-qwen3", "deepseek-v3", VLLM),
    Entry(
        "deepseek-r1-8b deepseek-r1-671b deepseek-r1-latest",
        None,
        OLLAMA,
        several="the tag was moved from R1 to R1-0528, which begins its messages in another way",
    ),
    Entry("deepseek-r1 deepseek-r1-distill-qwen deepseek-r1-distill-llama", "deepseek-r1", LLAMA_CPP),
    Entry("deepseek-v3", "deepseek-v3", RECIPES + "deepseek-ai/DeepSeek-V3.yaml"),
    # GLM
    Entry("glm-5.3 glm-5.2 glm-5.1 glm-5", "glm-4.7", RECIPES + "zai-org"),
    Entry("glm-4.7 glm-4.7-flash", "glm-4.7", VLLM),
    Entry("glm-4.6v glm-4.6v-flash glm-4.6", "glm-4.5", RECIPES + "zai-org"),
    Entry("glm-4.5v glm-4.5-air glm-4.5", "glm-4.5", VLLM),
    # Kimi
    Entry("kimi-k3", "kimi-k3", RECIPES + "moonshotai/Kimi-K3.yaml"),
    Entry("kimi-k2.7 kimi-k2.7-code kimi-k2.6 kimi-k2.5", "kimi-k2.6", RECIPES + "moonshotai"),
    Entry("kimi-k2-thinking", "kimi-k2-thinking", RECIPES + "moonshotai/Kimi-K2-Thinking.yaml"),
    Entry("kimi-k2", "kimi-k2", VLLM),
    Entry("kimi-linear", "kimi-k2", COOKBOOK + "Moonshotai/Kimi-Linear.md"),
    # Llama, and what others made of it. Llama 3.2 and 3.3 write llama-pythonic if their prompt asks for it.
    Entry("llama-4-scout llama-4-maverick llama4", "llama-pythonic", VLLM, chat="instruct"),
    Entry("llama-3.1-nemotron-70b", "llama-json", LLAMA_CPP),
    Entry("llama-3.3", "llama-json", VLLM),
    Entry("llama-3.2 llama-3.2-*-vision llama-3.1", "llama-json", VLLM, chat="instruct"),
    Entry("toolace-8b", "llama-pythonic", VLLM),
    Entry("firefunction-v2 llama-3-firefunction-v2", "firefunction-v2", LLAMA_CPP),
    Entry("functionary-small-v3.2 functionary-medium-v3.2", "functionary-v3.2", LLAMA_CPP),
    Entry("functionary-small-v3.1 functionary-medium-v3.1", "functionary-v3.1", LLAMA_CPP),
    Entry("llama-xlam-2-*-fc-r xlam-2-*-fc-r qwen-xlam-*-fc-r", "xlam", VLLM),
    # Mistral. The 7B models have no format before v0.3.
    Entry(
        "mistral-small-4 mistral-small-3.2 mistral-small-3.1 mistral-small-3",
        "mistral",
        RECIPES + "mistralai",
    ),
    Entry("mistral-medium-3.5 mistral-large-3", "mistral", RECIPES + "mistralai"),
    Entry("ministral-3 ministral-3-*-reasoning", "mistral", RECIPES + "mistralai"),
    Entry(
        "devstral-2 devstral-small-2 devstral-small devstral", "mistral", COOKBOOK + "Mistral/Devstral-2.md"
    ),
    Entry("magistral-small magistral", "mistral", "canitoolcall, docs/formats"),
    Entry("mistral-nemo mistral-large mistral-7b-*-v0.3", "mistral", LLAMA_CPP, chat="instruct"),
    Entry("mistral-small", "mistral", "SGLang cookbook, data/models/src/v0.5.6/mistral.yaml"),
    # NVIDIA
    Entry("nemotron-3.5-lightning", "nemotron-3", RECIPES + "nvidia"),
    Entry("nemotron-3-nano nemotron-3-super nemotron-3-ultra", "nemotron-3", RECIPES + "nvidia"),
    Entry("nemotron-3-nano-omni-*-reasoning", "nemotron-3", RECIPES + "nvidia"),
    Entry("nemotron-nano-*-v2 nemotron-nano-*-v2-japanese", "nemotron-nano-v2", RECIPES + "nvidia"),
    # Google and OpenAI
    Entry("gemma-4-26b-a4b-nvfp4", "gemma4", RECIPES + "Google/gemma-4-26B-A4B-it.yaml"),
    Entry("gemma-4 diffusiongemma", "gemma4", RECIPES + "Google", chat="it"),
    Entry("functiongemma", "functiongemma", VLLM),
    Entry("gpt-oss gpt-oss-safeguard", "harmony", RECIPES + "openai"),
    # MiniMax, Tencent, Xiaomi, StepFun, ByteDance, Baidu, Meituan, Ant, iFlytek
    Entry("minimax-m3", "minimax-m3", RECIPES + "MiniMaxAI/MiniMax-M3.yaml"),
    Entry("minimax-m2.7 minimax-m2.5 minimax-m2.1 minimax-m2", "minimax-m2", RECIPES + "MiniMaxAI"),
    Entry("minimax-m1", "minimax-m1", TEMPLATE + "MiniMax-M1.jinja"),
    Entry("hy4", "hy4", "vLLM, parser hy_v4"),
    Entry("hy3", "hy3", RECIPES + "tencent/Hy3.yaml"),
    Entry("hunyuan-a13b", "hunyuan-a13b", VLLM),
    Entry("mimo-v2.5-pro mimo-v2.5 mimo-v2-flash", "mimo-v2", RECIPES + "XiaomiMiMo"),
    Entry("step-3.7-flash step-3.5-flash", "step-3.5", RECIPES + "stepfun-ai"),
    Entry("step-3", "step-3", "SGLang, step3_detector.py"),
    Entry("seed-oss", "seed-oss", RECIPES + "ByteDance-Seed/Seed-OSS-36B-Instruct.yaml"),
    Entry("ernie-4.5-*-thinking ernie-4.5-vl-*-thinking", "ernie-4.5", "vLLM, ernie45_tool_parser.py"),
    Entry("longcat-flash-chat", "longcat", VLLM),
    Entry("ling-3.0-flash ling-3.0", "ling-3", RECIPES + "inclusionAI/Ling-3.0-flash.yaml"),
    Entry("spark-2.5", "spark-2.5", SGLANG),
    # Cohere, Liquid AI, Ai2, Poolside, ServiceNow, AI21, InternLM
    Entry("command-a-plus north-mini-code", "cohere-command4", "vLLM, parser/cohere_command.py"),
    Entry("command-a-reasoning command-a", "cohere", VLLM),
    Entry("command-r7b", "cohere", LLAMA_CPP),
    Entry("command-r-plus", "command-r-plus", TEMPLATE + "CohereForAI-c4ai-command-r-plus-tool_use.jinja"),
    Entry("lfm2.5-*-thinking lfm2.5-*-jp-202606 lfm2.5", "lfm2", RECIPES + "LiquidAI"),
    Entry("lfm2-*-tool lfm2", "lfm2", "vLLM, lfm2_tool_parser.py"),
    Entry("olmo-3.1-*-think olmo-3-*-think", "olmo3-think", "the model card of allenai/Olmo-3-32B-Think"),
    Entry("olmo-3.1-*-instruct olmo-3-*-instruct", "olmo3", VLLM),
    Entry(
        "olmo-3.1 olmo-3",
        None,
        OLLAMA,
        chat="instruct think",
        several="it is the Instruct or the Think model",
    ),
    Entry("laguna-s-2.1", "glm-4.7", TEMPLATE + "poolside-Laguna-S-2.1.jinja"),
    Entry("laguna-xs-2.1 laguna-xs-2 laguna-xs", "laguna-xs", TEMPLATE + "poolside-Laguna-XS-2.1.jinja"),
    Entry("apriel-1.6-*-thinker", "apriel-1.6", TEMPLATE + "Apriel-1.6-15b-Thinker-fixed.jinja"),
    Entry("apriel-1.5-*-thinker", "apriel-1.5", TEMPLATE + "unsloth-Apriel-1.5.jinja"),
    Entry("jamba-1.5-mini jamba-1.5-large", "jamba", VLLM),
    Entry("intern-s1 intern-s1-mini", "internlm2", RECIPES + "internlm/Intern-S1.yaml"),
    Entry("internlm2.5-*-chat internlm2-chat", "internlm2", VLLM),
    # Others
    Entry("apertus", "apertus", VLLM, chat="instruct"),
    Entry("dots3-note-prev", "dots", RECIPES + "dots-studio/dots3-note-prev.yaml"),
    Entry("gigachat3.5", "gigachat3.5", "SGLang, gigachat35_detector.py"),
    Entry("gigachat3.1 gigachat3", "gigachat3", VLLM),
    Entry("inkling inkling-small", "inkling", RECIPES + "thinkingmachines"),
    Entry("iquest-q1", "iquest-q1", "SGLang, iquest_q1_detector.py"),
    Entry("k2-horizon", "k2-horizon", "SGLang, k2_v3_detector.py"),
    Entry("llm-jp-4.1-*-thinking llm-jp-4.1", "llm-jp-4.1", TEMPLATE + "llm-jp-llm-jp-4.1-8b-thinking.jinja"),
    Entry("minicpm5", "minicpm5", RECIPES + "openbmb/MiniCPM5-1B.yaml"),
    Entry("muse-glimmer", "muse", RECIPES + "meta-models/Muse-Glimmer-30B.yaml"),
    Entry("phi-4-mini", "phi-4-mini", "vLLM, phi4mini_tool_parser.py"),
    Entry("plamo-3", "plamo3", "vLLM, parser/plamo3.py"),
    Entry("solar-open", "solar-open", TEMPLATE + "upstage-Solar-Open-100B.jinja"),
    # No format of their own
    Entry("gemma-3n gemma-3 gemma-2 gemma codegemma", None, TEMPLATE + "google-gemma-2-2b-it.jinja"),
    Entry("phi-4 phi-3.5-mini phi-3.5-moe phi-3-mini phi-3-medium phi-3-small", None, LLAMA_CPP),
    Entry("llama-3 llama-2 codellama", None, LLAMA_CPP),
    Entry("qwen2-vl qwen2 qwen1.5", None, LLAMA_CPP),
    Entry("mixtral-8x7b-*-v0.1 mistral-7b-*-v0.1 mistral-7b-*-v0.2", None, LLAMA_CPP),
    Entry("glm-4-*-chat smollm2 exaone-3.5 minimax-text-01", None, LLAMA_CPP),
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
    (?:int|uint|fp|f|nvfp|mxfp|mxint)\d+ bf16 nf4 w\d+a\d+ g\d+ gs\d+ \d{5} of
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
