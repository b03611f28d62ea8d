"""vLLM's serving classes over an engine that sends a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from checkpoint import TEMPLATE, save_checkpoint
from transformers import PreTrainedTokenizerFast
from vllm.config import ModelConfig, VllmConfig
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.openai.models.serving import BaseModelPath, OpenAIServingModels
from vllm.outputs import CompletionOutput, RequestOutput
from vllm.renderers.online_renderer import OnlineRenderer
from vllm.renderers.registry import renderer_from_config
from vllm.sampling_params import RequestOutputKind


class Engine:
    """Answers each request with the script, which is a list of texts. Other methods do nothing."""

    errored = False

    def __init__(self, config: VllmConfig, renderer: Any, tokenizer: PreTrainedTokenizerFast) -> None:
        self.vllm_config, self.model_config = config, config.model_config
        self.renderer, self.tokenizer = renderer, tokenizer
        self.input_processor, self.io_processor = SimpleNamespace(), None
        self.script: list[str] = []
        self.finish_reason = "stop"
        # The id that ends a message.
        self.ends = [tokenizer.eos_token_id]
        self.prompt = ""
        self.params: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: None

    def check_admission(self, *args: Any, **options: Any) -> None:
        return None

    async def is_tracing_enabled(self) -> bool:
        return False

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    async def generate(
        self, prompt: Any, params: Any, request_id: str, **options: Any
    ) -> AsyncIterator[RequestOutput]:
        prompt_ids = prompt["prompt_token_ids"]
        self.params, self.prompt = params, self.tokenizer.decode(prompt_ids)
        whole = params.output_kind == RequestOutputKind.FINAL_ONLY
        pieces = ["".join(self.script)] if whole else self.script
        for at, text in enumerate(pieces):
            last = at == len(pieces) - 1
            stop = self.ends if last and self.finish_reason == "stop" else []
            yield RequestOutput(
                request_id=request_id,
                prompt=None,
                prompt_token_ids=prompt_ids,
                prompt_logprobs=None,
                outputs=[
                    CompletionOutput(
                        index=choice,
                        text=text,
                        token_ids=[*self.ids(text), *stop],
                        cumulative_logprob=None,
                        logprobs=None,
                        finish_reason=self.finish_reason if last else None,
                    )
                    for choice in range(params.n)
                ],
                finished=last,
            )


class Choice(NamedTuple):
    """One choice of an answer, whole or put together from a stream."""

    content: str
    reasoning: str
    calls: list[tuple[str, str]]
    finish_reason: str | None


class Server:
    """vLLM's serving classes for a checkpoint."""

    def __init__(self, folder: Path, *, mode: str = "auto", template: str = TEMPLATE) -> None:
        self.tokenizer = save_checkpoint(folder, template)
        config = ModelConfig(
            model=str(folder),
            tokenizer=str(folder),
            tokenizer_mode=mode,
            max_model_len=1_000_000,
            dtype="bfloat16",
            enforce_eager=True,
        )
        self.config = VllmConfig(model_config=config)
        self.renderer = renderer_from_config(self.config)
        self.engine = Engine(self.config, self.renderer, self.tokenizer)
        self.models = OpenAIServingModels(self.engine, [BaseModelPath(name="m", model_path=str(folder))])

    def options(self, tool: str | None) -> dict[str, Any]:
        return {
            "request_logger": None,
            "chat_template": None,
            "chat_template_content_format": "auto",
            "enable_auto_tools": bool(tool),
            "tool_parser": tool,
        }

    def online(self, tool: str | None, reasoning: str | None = None, **more: Any) -> OnlineRenderer:
        return OnlineRenderer(
            self.config.model_config,
            self.renderer,
            reasoning_parser=reasoning,
            **self.options(tool),
            **more,
        )

    def chat(self, tool: str | None, reasoning: str | None = None, **more: Any) -> OpenAIServingChat:
        return OpenAIServingChat(
            self.engine,
            self.models,
            "assistant",
            online_renderer=self.online(tool, reasoning, **more),
            reasoning_parser=reasoning or "",
            **self.options(tool),
            **more,
        )


def pieces(text: str, size: int = 4) -> list[str]:
    """The text in pieces of `size` characters."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def ask(chat: OpenAIServingChat, *, stream: bool, **fields: Any) -> list[Choice]:
    """The choices of the answer to a request.

    Raises:
        AssertionError: vLLM answers with an error, which is in the message.
    """
    return asyncio.run(_ask(chat, stream, fields))


async def _ask(chat: OpenAIServingChat, stream: bool, fields: dict[str, Any]) -> list[Choice]:
    fields.setdefault("messages", [{"role": "user", "content": "hi"}])
    request = ChatCompletionRequest(model="m", stream=stream, max_tokens=500_000, **fields)
    answer = await chat.create_chat_completion(request)
    if hasattr(answer, "__aiter__"):
        return collected([chunk async for chunk in answer])
    found = json.loads(answer.model_dump_json())
    assert "choices" in found, found
    return [_choice(choice) for choice in found["choices"]]


def _choice(choice: dict[str, Any]) -> Choice:
    message = choice["message"]
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return Choice(
        message.get("content") or "",
        message.get("reasoning") or "",
        [(call["name"], call["arguments"]) for call in calls],
        choice["finish_reason"],
    )


def collected(chunks: list[str]) -> list[Choice]:
    """The choices of a stream."""
    texts: dict[int, list[str]] = {}
    calls: dict[int, dict[int, list[str]]] = {}
    reasons: dict[int, str] = {}
    for choice in _choices(chunks):
        index, delta = choice["index"], choice["delta"]
        content = texts.setdefault(index, ["", ""])
        content[0] += delta.get("content") or ""
        content[1] += delta.get("reasoning") or ""
        for call in delta.get("tool_calls") or ():
            at, function = call["index"], call.get("function") or {}
            of = calls.setdefault(index, {})
            # An index is only used after those before it.
            assert at <= len(of), calls
            one = of.setdefault(at, ["", ""])
            one[0] += function.get("name") or ""
            one[1] += function.get("arguments") or ""
        if choice.get("finish_reason"):
            reasons[index] = choice["finish_reason"]
    return [
        Choice(
            content,
            reasoning,
            [(name, arguments) for name, arguments in calls.get(index, {}).values()],
            reasons.get(index),
        )
        for index, (content, reasoning) in sorted(texts.items())
    ]


def _choices(chunks: list[str]) -> Iterator[dict[str, Any]]:
    for chunk in chunks:
        if chunk.startswith("data: {"):
            data = json.loads(chunk.removeprefix("data: "))
            assert "choices" in data, data
            yield from data["choices"]
