"""SGLang's chat server over an engine that sends a script."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import checkpoint
from sglang.srt import runtime_context
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.managers.tokenizer_manager import TokenizerManager
from sglang.srt.parser.template_manager import TemplateManager
from sglang.srt.server_args import PortArgs, ServerArgs

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if tools %}{{ tools|tojson }}{% endif %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
)


def save_checkpoint(folder: Path, template: str = TEMPLATE) -> Path:
    """A checkpoint whose chat template may turn thinking off."""
    checkpoint.save_checkpoint(folder, template)
    return folder


class Choice(NamedTuple):
    """One choice of an answer, whole or put together from a stream."""

    content: str
    reasoning: str
    calls: list[tuple[str, str]]
    finish_reason: str | None


class Manager(TokenizerManager):
    """Without sockets to other processes."""

    def init_ipc_channels(self, port_args: PortArgs) -> None:
        self.tokenizer_ipc_name = self.send_to_scheduler = self.recv_from_detokenizer = None
        self.load_snapshot_reader = None


class Server:
    """SGLang's chat server. Each request is answered with the script, which is a list of texts."""

    def __init__(self, folder: Path, **options: Any) -> None:
        parsers = {"tool_call_parser": "wirecall", "reasoning_parser": "wirecall"}
        self._arguments = arguments = ServerArgs(
            model_path=str(folder), device="cpu", **{**parsers, **options}
        )
        # The steps of SGLang's launcher, without processes.
        arguments.resolve_once()
        arguments.check_server_args()
        runtime_context.publish(arguments, role="tokenizer")
        self.manager = Manager(arguments, PortArgs.init_new(arguments))
        templates = TemplateManager()
        templates.initialize_templates(self.manager, str(folder))
        self.chat = OpenAIServingChat(self.manager, templates)
        self.manager.generate_request = self._generate
        self.script: list[str] = []
        self.finish_reason: dict[str, Any] = {"type": "stop", "matched": 1}
        # The messages of the last answer.
        self.messages: list[Any] = []
        self.prompt = ""
        self.params: dict[str, Any] = {}

    async def _generate(self, request: Any, raw_request: Any = None) -> AsyncIterator[Any]:
        self.params = request.sampling_params
        self.prompt = self.manager.tokenizer.decode(request.input_ids)
        count = self.params.get("n") or 1
        if not request.stream:
            items = [self._item("".join(self.script), choice, last=True) for choice in range(count)]
            yield items if count > 1 else items[0]
            return
        text = ""
        for at, part in enumerate(self.script):
            text += part
            for choice in range(count):
                yield self._item(text, choice, last=at == len(self.script) - 1)

    def _item(self, text: str, choice: int, *, last: bool) -> dict[str, Any]:
        meta = {
            "id": "chatcmpl-1",
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "cached_tokens": 0,
            "weight_version": "default",
            "finish_reason": dict(self.finish_reason) if last else None,
        }
        return {"index": choice, "text": text, "output_ids": [], "meta_info": meta}

    def ask(self, **request: Any) -> list[Choice]:
        """The choices of an answer."""
        # Another server may have started since.
        runtime_context.publish(self._arguments, role="tokenizer")
        full = {"model": "m", "messages": [{"role": "user", "content": "x"}], **request}
        return asyncio.run(self._ask(ChatCompletionRequest(**full)))

    async def _ask(self, request: ChatCompletionRequest) -> list[Choice]:
        raw = SimpleNamespace(headers={}, state=SimpleNamespace(), url=None)
        response = await self.chat.handle_request(request, raw)
        if request.stream:
            return _collected([chunk async for chunk in response.body_iterator])
        assert hasattr(response, "choices"), getattr(response, "body", response)
        self.messages = [choice.message for choice in response.choices]
        return [
            Choice(
                choice.message.content or "",
                choice.message.reasoning_content or "",
                [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()],
                choice.finish_reason,
            )
            for choice in response.choices
        ]


def _collected(chunks: list[str]) -> list[Choice]:
    made: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for line in chunk.splitlines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            event = json.loads(line.removeprefix("data: "))
            assert "error" not in event, event
            for choice in event["choices"]:
                one = made.setdefault(
                    choice["index"], {"content": "", "reasoning": "", "calls": {}, "finish": None}
                )
                delta = choice["delta"]
                one["content"] += delta.get("content") or ""
                one["reasoning"] += delta.get("reasoning_content") or ""
                one["finish"] = choice.get("finish_reason") or one["finish"]
                for call in delta.get("tool_calls") or ():
                    name, arguments = one["calls"].get(call["index"], ("", ""))
                    function = call["function"]
                    one["calls"][call["index"]] = (
                        name + (function.get("name") or ""),
                        arguments + (function.get("arguments") or ""),
                    )
    return [
        Choice(
            one["content"], one["reasoning"], [one["calls"][at] for at in sorted(one["calls"])], one["finish"]
        )
        for _, one in sorted(made.items())
    ]
