"""The texts of an answer and of its retries are paragraphs of their own, in every API, whole and streamed."""

import itertools
import random
import re

import pytest

import chat_support
import messages_support
import responses_peers
from law import seeded
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api as messages
from wirecall._text.options import Options

BAD = {
    "chat": chat_support.BAD,
    "messages": "<call>search query</call>",
    "responses": responses_peers.BAD,
}
APIS = sorted(BAD)
WORDS = ("No.", "No!", " ", "\n", "\n\n", "\t", "Sorry. ", "A\n\nB", "é")


def said_whole(api: str, texts: list[str], options: Options) -> str:
    """What a user reads of the attempts."""
    if api == "responses":
        answers = [responses_peers.response(responses_peers.message(text)) for text in texts]
        read, _ = responses_peers.read_whole(answers, options)
        return "".join(part["text"] for item in read["output"] for part in item.get("content", ()))
    if api == "chat":
        exchange = Exchange(chat_support.chat, chat_support.asking(), options)
        answers = [chat_support.body(text) for text in texts]
        found = [read for read in map(exchange.whole, answers) if read is not None]
        return found[0]["choices"][0]["message"]["content"] or ""
    exchange = Exchange(messages, messages_support.request(), options)
    answers = [messages_support.message([messages_support.text(text)]) for text in texts]
    found = [read for read in map(exchange.whole, answers) if read is not None]
    return "".join(block.get("text", "") for block in found[0]["content"])


def said_streamed(api: str, texts: list[str], options: Options, size: int) -> str:
    if api == "responses":
        answers = [
            responses_peers.streamed(responses_peers.response(responses_peers.message(text)), (size,))
            for text in texts
        ]
        events, _ = responses_peers.read_stream(answers, options)
        output = responses_peers.accumulate(events)
        return "".join(part["text"] for item in output for part in item.get("content", ()))
    if api == "chat":
        exchange = Exchange(chat_support.chat, chat_support.asking(), options)
        cut = [[text[at : at + size] for at in range(0, len(text), size)] for text in texts]
        answers = [chat_support.chunks(pieces) for pieces in cut]
    else:
        exchange = Exchange(messages, messages_support.request(), options)
        answers = [
            messages_support.events_of(messages_support.message([messages_support.text(text)]), size)
            for text in texts
        ]
    stream, sent = exchange.stream(), []
    for answer in answers:
        for event in answer:
            read = stream.feed(event)
            sent += [event] if read is None else read
        sent += stream.end()
        if stream.should_retry:
            exchange.retry()
    if api == "chat":
        return chat_support.accumulated(sent)[0]["content"]
    return "".join(block.get("text", "") for block in messages_support.folded(sent)["content"])


def check(api: str, texts: list[str], size: int) -> str:
    options = Options(max_retries=len(texts) - 1)
    whole = said_whole(api, texts, options)
    assert said_streamed(api, texts, options, size) == whole
    return whole


@pytest.mark.parametrize("api", APIS)
def test_two_sentences_are_two_paragraphs(api: str) -> None:
    bad = BAD[api]
    assert check(api, [f"No.{bad}", "No!"], 3) == "No.\n\nNo!"
    assert check(api, [f"No.\n{bad}", "No!"], 1) == "No.\n\nNo!"
    assert check(api, [f"No.{bad}", "\n\nNo!"], 1) == "No.\n\nNo!"
    assert check(api, [f"No.{bad}", f"{bad}", "No!"], 2) == "No.\n\nNo!"
    # What was said after the call that failed is dropped with it. Nothing comes before a first text.
    assert check(api, [f"{bad} And so on.", "No!"], 2) == "No!"


@pytest.mark.parametrize("api", APIS)
def test_a_missing_call_is_asked_for_in_a_paragraph_of_its_own(api: str) -> None:
    asks = {"messages": {"type": "any"}}.get(api, "required")
    given = {
        "chat": (chat_support.chat, chat_support.asking(tool_choice=asks)),
        "messages": (messages, messages_support.request(tool_choice=asks)),
        "responses": (responses_peers.responses, {**responses_peers.REQUEST, "tool_choice": asks}),
    }
    exchange = Exchange(*given[api], Options())
    made = {
        "chat": chat_support.body,
        "messages": lambda text: messages_support.message([messages_support.text(text)]),
        "responses": lambda text: responses_peers.response(responses_peers.message(text)),
    }[api]
    assert exchange.whole(made("No.")) is None
    text = str(exchange.whole(made("No!")))
    assert "No.\\n\\nNo!" in text or "'\\n\\nNo!'" in text


@pytest.mark.laws
@pytest.mark.parametrize("api", APIS)
def test_exactly_one_blank_line(api: str) -> None:
    rng: random.Random = seeded(20)
    for _ in range(300):
        attempts = ["".join(rng.choices(WORDS, k=rng.randrange(5))) for _ in range(rng.randrange(2, 4))]
        texts = [text + BAD[api] for text in attempts[:-1]] + [attempts[-1]]
        read = check(api, texts, rng.choice((1, 2, 7, 1000)))
        spoken = [text for text in attempts if text.strip()]
        assert re.sub(r"\s+", " ", read).strip() == re.sub(r"\s+", " ", " ".join(spoken)).strip()
        at = 0
        for first, second in itertools.pairwise(spoken):
            at = read.index(first.strip(), at) + len(first.strip())
            between = read[at : read.index(second.strip(), at)]
            assert between.count("\n") >= 2, (attempts, read)
            # None is added where there are enough.
            tail, lead = first[len(first.rstrip()) :], second[: len(second) - len(second.lstrip())]
            if attempts == spoken and (tail + lead).count("\n") >= 2:
                assert between == tail + lead
