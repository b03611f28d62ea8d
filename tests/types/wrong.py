"""Uses that type checkers must refuse: each in the lines that say `# wrong`. Nothing here is run."""

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import wirecall
from wirecall import CallEnd, CallError, Notice, Problem, Toolset, compact_context, compact_tools
from wirecall.compaction import compact_messages, summarizer


def heard(notice: Notice, more: int) -> None: ...


def names() -> None:
    print(wirecall.Options())  # wrong
    wirecall.wrap(OpenAI(), max_retry=2)  # wrong
    wirecall.wrap(OpenAI(), on_eror="text")  # wrong
    compact_tools(fallback="error")  # wrong
    compact_tools().transform_params({}, stict=True)  # wrong
    Toolset([], protocoll="hermes")  # wrong
    compact_context(max_session=3)  # wrong
    options: wirecall.WrapOptions = {"placment": "last"}  # wrong
    wirecall.wrap(OpenAI(), **options)


def types() -> None:
    wirecall.wrap(OpenAI(), max_retries="2")  # wrong
    wirecall.wrap(OpenAI(), on_error="ignore")  # wrong
    wirecall.wrap(OpenAI(), debug="yes")  # wrong
    wirecall.wrap(OpenAI(), delimiters="<c>")  # wrong
    wirecall.wrap(OpenAI(), limits={"depth": "8"})  # wrong
    wirecall.wrap(OpenAI(), on_event=heard)  # wrong
    compact_tools(template=lambda tools: len(tools))  # wrong
    compact_tools(media="all")  # wrong
    Toolset([], validate="warn")  # wrong
    Toolset([]).for_api("openai")  # wrong
    compact_context(count="o200k_base")  # wrong
    a_client: AsyncOpenAI = wirecall.wrap(OpenAI())  # wrong
    print(a_client)


def summaries() -> None:
    compact_messages([], summarizer(AsyncAnthropic(), model="a"))  # wrong
    summarizer(OpenAI())  # wrong


def kinds(error: CallError, call: CallEnd, problem: Problem, notice: Notice) -> bool:
    known: wirecall.ErrorKind = "unknown_tol"  # wrong
    print(known)
    said: wirecall.NoticeKind = error.kind  # wrong
    print(said)
    return Notice("retried", None, "") == notice  # wrong
