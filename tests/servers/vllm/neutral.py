"""The fixtures of canitoolcall through vLLM's own classes: parser, detokenizer, stream processor, assembly.

The tokenizer has one token for each byte, and the markers of the family as tokens.
"""

import random
import re
from functools import cache
from types import SimpleNamespace
from typing import Any

from canitoolcall.adapters.base import ReplayInput
from canitoolcall.adapters.vllm import chat_template_kwargs_for
from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Fixture
from canitoolcall.results import (
    CheckResult,
    Observation,
    ParsedToolCall,
    ParseResult,
    Status,
    StreamAccumulator,
)
from checkpoint import byte_tokenizer
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast
from vllm.entrypoints.openai.chat_completion.message_assembly import assemble_chat_message_fields
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.chat_completion.stream_processor import ChatStreamProcessor
from vllm.parser import ParserManager
from vllm.v1.engine.detokenizer import IncrementalDetokenizer

import neutral_suite

SEEDS = (1, 2, 3)

# The markers of a family that are one token.
_WHOLE = re.compile(r"^(<[^=\s]*>|\[/?[A-Z_]+\]|｜DSML｜|</s>)$")
# Those of them that are no special tokens.
_PLAIN = re.compile(r"^</?(think|tool_call|tool_response|function|parameter|arg_key|arg_value)>$")
_END_OF_DEEPSEEK = "<｜end▁of▁sentence｜>"


@cache
def tokenizer(slug: str, model: str) -> PreTrainedTokenizerFast:
    """A tokenizer of bytes with the markers of a family."""
    family = neutral_suite.FAMILIES[slug]
    made = byte_tokenizer()
    marks = [mark for mark in family.markers if _WHOLE.match(mark)]
    marks += [stop for reference in family.reference_models for stop in reference.stop_tokens]
    for mark in dict.fromkeys(marks):
        plain = _PLAIN.match(mark) or (slug == "deepseek" and mark != _END_OF_DEEPSEEK)
        add = made.add_tokens if plain else made.add_special_tokens
        add([AddedToken(mark, normalized=False, special=not plain)])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=family.reference_models[0].stop_tokens[0],
        clean_up_tokenization_spaces=False,
    )
    wrapped.name_or_path = model
    return wrapped


class Replay:
    """One fixture, and what vLLM makes of it."""

    def __init__(self, fixture: Fixture, parser: str) -> None:
        self.fixture, self.family = fixture, neutral_suite.FAMILIES[fixture.family]
        raw = ReplayInput.from_fixture(fixture, self.family)
        self.model = raw.model
        self.tokenizer = tokenizer(self.family.slug, raw.model)
        self.variables = chat_template_kwargs_for(raw.thinking)
        self.parser_cls = ParserManager.get_parser(
            tool_parser_name=parser,
            reasoning_parser_name=parser,
            enable_auto_tools=True,
            model_name=raw.model,
            is_harmony=fixture.family == "gpt-oss",
            tokenizer=self.tokenizer,
        )
        self.prompt = self._ids(raw.generation_prompt or "")
        self.ids = self._ids(fixture.raw_output)
        self.stop = self._stop(raw.stop_tokens)

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _stop(self, stops: Any) -> list[int]:
        """The id of the stop token, which an engine reports, but not its text."""
        if self.fixture.truncated or self.fixture.raw_output.endswith(tuple(stops)):
            return []
        vocabulary = self.tokenizer.get_vocab()
        return [vocabulary[stop] for stop in stops if stop in vocabulary][:1]

    def observed(self) -> Observation:
        ids = self.ids
        streams = {"one": [ids], "token": [[one] for one in ids], "twenty": groups(ids, 20)}
        streams |= {f"random {seed}": groups(ids, 8, seed) for seed in SEEDS}
        return Observation(
            nonstream=self.whole(), streams={label: self.streamed(parts) for label, parts in streams.items()}
        )

    def _start(self, *, stream: bool) -> tuple[ChatCompletionRequest, Any]:
        fixture = self.fixture
        tools = (
            {"tools": [dict(tool) for tool in fixture.tools], "tool_choice": "auto"} if fixture.tools else {}
        )
        request = ChatCompletionRequest(
            model=self.model,
            messages=[{"role": "user", "content": "x"}],
            stream=stream,
            chat_template_kwargs=self.variables or None,
            **tools,
        )
        variables = dict(request.build_chat_params(None, "auto", {}).chat_template_kwargs)
        adjusting = self.parser_cls(
            self.tokenizer, request.tools, model_config=None, chat_template_kwargs=variables
        )
        adjusting.set_prompt_token_ids(self.prompt)
        request = adjusting.adjust_request(request=request)
        return request, self.parser_cls(
            self.tokenizer, request.tools, model_config=None, chat_template_kwargs=variables
        )

    def _texts(self, request: ChatCompletionRequest, parts: list[list[int]]) -> list[str]:
        detokenizer = IncrementalDetokenizer.from_new_request(
            self.tokenizer,
            SimpleNamespace(
                request_id="x",
                sampling_params=request.to_sampling_params(4096, {}),
                prompt_token_ids=self.prompt,
                prompt_embeds=None,
            ),
        )
        texts = []
        for at, part in enumerate(parts):
            detokenizer.update(list(part), False)
            texts.append(detokenizer.get_next_output_text(at == len(parts) - 1, True))
        return texts

    def whole(self) -> ParseResult:
        request, parser = self._start(stream=False)
        parser.set_prompt_token_ids(self.prompt)
        reasoning, content, calls = parser.parse(
            self._texts(request, [self.ids])[0],
            request,
            enable_auto_tools=True,
            model_output_token_ids=[*self.ids, *self.stop],
        )
        fields = assemble_chat_message_fields(
            request, reasoning, content, calls, enable_auto_tools=True, parser_cls=self.parser_cls
        )
        return ParseResult(
            content=fields.content or None,
            reasoning_content=fields.reasoning or None,
            tool_calls=tuple(
                ParsedToolCall(call.function.name, call.function.arguments) for call in fields.tool_calls
            ),
        )

    def streamed(self, parts: list[list[int]]) -> ParseResult:
        request, parser = self._start(stream=True)
        processor = ChatStreamProcessor(request, parser, enable_auto_tools=True, parser_cls=self.parser_cls)
        collected = StreamAccumulator()
        for at, (text, part) in enumerate(zip(self._texts(request, parts), parts, strict=True)):
            last = at == len(parts) - 1
            reason = ("length" if self.fixture.truncated else "stop") if last else None
            ids = [*part, *(self.stop if last else ())]
            if (delta := processor.step(text, ids, reason, self.prompt).delta) is None:
                continue
            collected.add_content(delta.content)
            collected.add_reasoning(delta.reasoning)
            for call in delta.tool_calls or ():
                function = call.function
                collected.add_tool_call(
                    call.index, function and function.name, function and function.arguments
                )
        return collected.result()


def groups(ids: list[int], most: int, seed: int | None = None) -> list[list[int]]:
    """The ids in groups of `most`, or of random sizes up to it."""
    rng = random.Random(seed)
    parts, at = [], 0
    while at < len(ids):
        size = most if seed is None else rng.randint(1, most)
        parts.append(ids[at : at + size])
        at += size
    return parts or [[]]


def checked(fixture: Fixture, parser: str) -> tuple[Status, list[CheckResult]]:
    """The status of a fixture, and the results of all checks."""
    replay = Replay(fixture, parser)
    results = run_checks(fixture, replay.family, replay.observed())
    return case_status(results), results
