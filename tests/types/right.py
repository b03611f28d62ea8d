"""Uses that type checkers must accept. Nothing here is run."""

from collections.abc import Awaitable, Callable

from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import wirecall
from wirecall import (
    CallEnd,
    CallError,
    Notice,
    NoticeKind,
    Problem,
    Toolset,
    ToolsetOptions,
    WrapOptions,
    compact_context,
    compact_tools,
)
from wirecall.compaction import Compress, acompact_messages, compact_messages, summarizer


def heard(notice: Notice) -> None:
    if notice.kind == "retry":
        print(notice.detail)


def clients() -> None:
    client: OpenAI = wirecall.wrap(OpenAI(), on_error="text", max_retries=2, on_event=heard)
    asynchronous: AsyncAnthropic = wirecall.wrap(AsyncAnthropic(), protocol="hermes", strict=True)
    print(client.chat.completions, asynchronous.messages)


def options_in_a_dict() -> None:
    options: WrapOptions = {"on_error": "raise", "limits": {"depth": 8}}
    wirecall.wrap(Anthropic(), **options)
    compact_tools(**options).transform_params({"messages": []}, delimiters=("[call]", "[/call]"))
    tools: ToolsetOptions = {"validate": "error", "reasoning": None}
    Toolset([], **tools)


async def compaction(client: OpenAI, asynchronous: AsyncOpenAI) -> None:
    compact_messages([], summarizer(client, model="a-small-one"), keep_recent_turns=3)
    await acompact_messages([], summarizer(asynchronous, model="a-small-one"), keep_recent_turns=3)
    compact_context(context_window=128_000, compress=summarizer(client, model="a-small-one"))
    compact_context(context_window=128_000, compress=summarizer(asynchronous, model="a-small-one"))
    compact_context(context_window=1, compress=Compress(summarizer(Anthropic(), model="a", temperature=0)))
    one: Callable[[list[dict[str, str]]], str] = summarizer(client, model="a-small-one")
    other: Callable[[list[dict[str, str]]], Awaitable[str]] = summarizer(AsyncAnthropic(), model="a")
    print(one, other)


def kinds(error: CallError, call: CallEnd, problem: Problem, kind: NoticeKind) -> bool:
    said: tuple[wirecall.RepairKind, ...] = call.repairs
    return (
        error.kind == "unknown_tool"
        or error.kind == "coerced"
        or error.kind == "not_allowed"
        or problem.kind == "wrong_type"
        or kind == "repair"
        or "inner_quotes" in said
    )


def get_weather(city: str) -> str:
    return city


async def functions(client: OpenAI, anthropic: Anthropic, asynchronous: AsyncOpenAI) -> None:
    tools = Toolset([get_weather])
    answer = client.chat.completions.create(model="m", messages=[], tools=tools.for_api("chat"))
    for native in answer.choices[0].message.tool_calls or ():
        content: str = tools.run(native)
        print(content, (await tools.arun(native)).error)
    message = anthropic.messages.create(model="m", max_tokens=1, messages=[], tools=tools.for_api("messages"))
    results: list[wirecall.ToolResult] = [tools.run(block) for block in message.content]
    await asynchronous.responses.create(model="m", input="", tools=tools.for_api("responses"))
    parsed = tools.parse("")
    calls: list[CallEnd | CallError] = [*parsed.calls, *parsed.errors]
    print([tools.encode_result(call.name, tools.run(call)) for call in calls], results)
