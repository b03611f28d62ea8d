"""`wirecall compact`: replaces older turns of a stored conversation with a summary."""

import importlib
import json
import os
import re
import stat
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import click

from wirecall import tokens as vocabularies
from wirecall._apis.registry import apis
from wirecall._cli.console import plural, printable, with_cause
from wirecall._cli.inputs import UserError, blame, load_json, read_text, title_of
from wirecall._tools.definitions import API_NAMES, ApiName
from wirecall.compaction._counting import Count, estimate, tokens
from wirecall.compaction._durable import compacted, summarize_messages
from wirecall.compaction._planning import CompactionPlan, plan_compaction
from wirecall.compaction._summarizers import SummaryError, summarizer
from wirecall.compaction._summary import MAX_SUMMARY_TOKENS
from wirecall.errors import install_extra

# The client class of each SDK. The base class of its errors has the same name with `Error`.
_CLIENTS = {"openai": "OpenAI", "anthropic": "Anthropic"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPECTED = 'a JSON list of messages, an object with "messages" or "input", or a message on each line'


@click.command(
    epilog="""FILE is a JSON list of messages (of chat completions, Responses or Anthropic), a request with
"messages" or "input", or JSON lines; the default is standard input. The output has the same form. An output
file is replaced atomically, and only if it has not changed in the meantime.

A turn is a user message, or a model's answer with all results of its calls.

\b
Examples:
  wirecall compact history.json --keep-recent-turns 10 --plan
  wirecall compact history.jsonl --keep-recent-turns 10 --model gpt-5-mini --output history.jsonl
  wirecall compact history.json --max-tokens 8000 --model claude-haiku-4-5 --api anthropic > short.json
  wirecall compact history.json --max-tokens 8000 --model qwen3 --base-url http://localhost:8000/v1
""",
)
@click.option(
    "--keep-recent-turns", type=click.FloatRange(min=0), metavar="N", help="Recent turns to keep; 0 for none."
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep as many turns as fit, with a summary. Needs tiktoken, or --estimate.",
)
@click.option(
    "--max-summary-tokens",
    type=click.IntRange(min=1),
    default=MAX_SUMMARY_TOKENS,
    metavar="N",
    help="Maximum tokens of the summary, reserved from --max-tokens.",
)
@click.option("--estimate", "estimated", is_flag=True, help="Estimate tokens from the number of characters.")
@click.option(
    "--tool-result-stub-threshold",
    type=click.IntRange(min=0),
    metavar="N",
    help="Longer tool results are only mentioned to the summarising model, not included.",
)
@click.option("--instructions", metavar="TEXT", help="Further instructions for the summarising model.")
@click.option(
    "--merge-summary",
    is_flag=True,
    help="Put the summary into the first kept message, if that is a user message.",
)
@click.option(
    "--format",
    type=click.Choice(API_NAMES),
    help="Format of the messages.  [default: detected]",
)
@click.option("--plan", "only_plan", is_flag=True, help="Print what would be done; no model is called.")
@click.option("--json", "as_json", is_flag=True, help="With --plan, print one JSON object.")
@click.option(
    "--model", metavar="NAME", help="Model that writes the summary; required unless --plan is given."
)
@click.option("--api", type=click.Choice(list(_CLIENTS)), default="openai", help="API of the model.")
@click.option("--base-url", metavar="URL", help="Base URL of the API.  [default: the provider's]")
@click.option(
    "--key-variable",
    metavar="NAME",
    help="Environment variable that holds the key.  [default: OPENAI_API_KEY or ANTHROPIC_API_KEY]",
)
@click.option(
    "--output", metavar="FILE", help="File to write; may be FILE itself.  [default: standard output]"
)
@click.argument("file", default="-")
def compact(
    keep_recent_turns: float | None,
    max_tokens: int | None,
    max_summary_tokens: int,
    estimated: bool,
    merge_summary: bool,
    format: ApiName | None,
    only_plan: bool,
    as_json: bool,
    model: str | None,
    api: Literal["openai", "anthropic"],
    base_url: str | None,
    key_variable: str | None,
    output: str | None,
    file: str,
    **summary_options: Any,
) -> None:
    """Replace older turns of a conversation with a summary.

    Only the conversation goes to the output; messages for you go to standard error.
    """
    if keep_recent_turns is None and max_tokens is None:
        raise click.UsageError("--keep-recent-turns or --max-tokens is required.")
    if not only_plan and model is None:
        raise click.UsageError("--model is required unless --plan is given.")
    if as_json and not only_plan:
        raise click.UsageError("--json needs --plan.")
    title = title_of(file)
    conversation = _Conversation(read_text(file, "a conversation"), title)
    count = _counter(estimated, needed=max_tokens is not None)
    with blame(title):
        plan = plan_compaction(
            conversation.messages,
            keep_recent_turns=keep_recent_turns,
            max_tokens=max_tokens,
            count=count,
            max_summary_tokens=max_summary_tokens,
            format=format,
        )
    if only_plan:
        _show(plan, count, as_json)
        if max_tokens is not None and plan.to_summarize and not as_json:
            click.echo(f"{'a summary':<10}{max_summary_tokens:>9,}  at most (--max-summary-tokens)")
        return
    summary = ""
    if plan.to_summarize:
        summarize, errors = _summarizer(api, model or "", base_url, key_variable, max_summary_tokens)
        try:
            summary = summarize_messages(
                plan.to_summarize,
                summarize,
                max_summary_tokens=max_summary_tokens,
                format=plan.format,
                **summary_options,
            )
        except (SummaryError, errors) as error:
            reason = textwrap.shorten(printable(with_cause(error)), 500, placeholder=" …")
            where = f"{model} at {base_url}" if base_url else model
            raise UserError(f"{where}: {reason}") from error
    replaces = output and file != "-" and os.path.exists(output) and os.path.samefile(file, output)
    if replaces and read_text(file, "") != conversation.text:
        raise UserError(f"{output}: the file was changed in the meantime, so nothing was written")
    if summary:
        _write(output, conversation.format(compacted(plan, summary, merge=merge_summary)))
        old, kept = plan.turns - plan.kept_turns, plan.kept_turns
        click.echo(f"{plural(old, 'turn')} summarised, {plural(kept, 'turn')} kept", err=True)
    else:
        _write(output, conversation.text)
        why = f"{model} returned an empty summary" if plan.to_summarize else "no turn is old enough"
        click.echo(f"unchanged: {why}", err=True)


class _Conversation:
    """Messages in their original form."""

    def __init__(self, text: str, title: str) -> None:
        self.text, self.title = text, title
        # For JSON lines: the line of each message, by the message's id().
        self.lines: dict[int, str] = {}
        self.body: dict[str, Any] = {}
        try:
            loaded = load_json(text, title, _EXPECTED)
        except UserError as failure:
            is_json = not isinstance(failure.__cause__, json.JSONDecodeError)
            if is_json or not _is_object(text.lstrip().partition("\n")[0]):
                raise
            loaded = None
        body = loaded if isinstance(loaded, dict) else {}
        keys = [api.messages_key for api in apis().values() if isinstance(body.get(api.messages_key), list)]
        if isinstance(loaded, list):
            self.messages = loaded
        elif keys:
            self.body, self.key, self.messages = body, keys[0], body[keys[0]]
        elif loaded is None or "role" in body or "type" in body:
            self.messages = [*self._of_lines()]
        else:
            raise UserError(f"{title}: expected {_EXPECTED}")
        for index, message in enumerate(self.messages):
            if reason := _why_not_a_message(message):
                raise UserError(f"{title}: messages[{index}] {reason}; expected {_EXPECTED}")

    def _of_lines(self) -> Iterator[Any]:
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.strip():
                message = load_json(line, self.title, _EXPECTED, line=number)
                self.lines[id(message)] = line.rstrip("\r")
                yield message

    def format(self, messages: Sequence[Any]) -> str:
        if self.lines or not self.text.strip():
            kept = (self.lines.get(id(one)) or _json(one, (",", ":")) for one in messages)
            return "".join(f"{line}\n" for line in kept)
        indented = re.match(r"\s*[\[{][ \r]*\n([ \t]*)", self.text)
        separators = (",", ": ") if indented else (", ", ": ") if '": ' in self.text else (",", ":")
        whole = {**self.body, self.key: messages} if self.body else messages
        end = "\n" if self.text.endswith("\n") else ""
        return _json(whole, separators, indented[1] if indented else None) + end


def _why_not_a_message(message: object) -> str | None:
    """Why an object is not a message, if it is not. Anything else is checked with all messages."""
    if not isinstance(message, dict) or "role" in message:
        return None
    if message.keys() & {"function", "parameters", "input_schema", "inputSchema"}:
        return "is a tool definition"
    return None if "type" in message else 'has neither "role" nor "type"'


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _json(value: object, separators: tuple[str, str], indent: str | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent)
    has_surrogate = _SURROGATE.search(text)
    return json.dumps(value, separators=separators, indent=indent) if has_surrogate else text


def _write(path: str | None, text: str) -> None:
    """To standard output, or to a file, which is replaced atomically."""
    if path is None:
        print(text, end="", flush=True)
    else:
        with blame(path):
            _replace(os.path.realpath(path), text.encode())


def _replace(path: str, data: bytes) -> None:
    """Writes a file atomically; a pipe or device is written to, because it cannot be replaced."""
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        Path(path).write_bytes(data)
        return
    part = f"{path}.{os.getpid()}.part"
    # The temporary file must not be readable by more users than the final one.
    permissions = 0o666 if mode is None else 0o600
    with ExitStack() as cleanup:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, permissions)) as file:
            cleanup.callback(os.unlink, part)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(part, stat.S_IMODE(mode))
        os.replace(part, path)
        cleanup.pop_all()


def _counter(estimated: bool, *, needed: bool) -> Count:
    if estimated:
        return estimate
    if not needed:
        return vocabularies.cached_tokenizer() or estimate
    try:
        return vocabularies.tokenizer()
    except vocabularies.VocabularyError as error:
        raise UserError(f"{error} Or use --estimate.") from error


def _summarizer(
    api: str, model: str, base_url: str | None, key_variable: str | None, max_tokens: int
) -> tuple[Callable[[list[dict[str, str]]], Any], type[Exception]]:
    """The summariser, and the base class of its SDK's errors."""
    try:
        sdk = importlib.import_module(api)
    except ImportError as error:
        raise UserError(f"{api} is not installed. {install_extra(api)}") from error
    variable = key_variable or f"{api.upper()}_API_KEY"
    # A local server may need no key, but the SDK requires one.
    key = os.environ.get(variable) or ("none" if base_url is not None and key_variable is None else "")
    if not key:
        raise UserError(f"the environment variable {variable} is not set; it must hold the API key")
    client = getattr(sdk, _CLIENTS[api])(api_key=key, base_url=base_url)
    click.get_current_context().call_on_close(client.close)
    return summarizer(client, model=model, max_tokens=max_tokens), getattr(sdk, f"{_CLIENTS[api]}Error")


def _show(plan: CompactionPlan, count: Count, as_json: bool) -> None:
    unit = "estimated tokens" if count is estimate else f"tokens of {vocabularies.ENCODING}"
    parts = {
        "system": (plan.system, 0),
        "to_summarize": (plan.to_summarize, plan.turns - plan.kept_turns),
        "to_keep": (plan.to_keep, plan.kept_turns),
    }
    counted = {
        name: {"messages": len(part), "turns": turns, "tokens": tokens(part, count)}
        for name, (part, turns) in parts.items()
    }
    if as_json:
        repairs = [repair.to_dict() for repair in plan.repairs]
        click.echo(json.dumps({"format": plan.format, "unit": unit, **counted, "repairs": repairs}))
        return
    click.echo(f"format {plan.format}, {unit}")
    click.echo(f"{'part':<10}{'tokens':>9}")
    for word, part in zip(("system", "summarise", "keep"), counted.values(), strict=True):
        click.echo(f"{word:<10}{part['tokens']:>9,}  messages {part['messages']:,}, turns {part['turns']:,}")
    if not plan.to_summarize:
        click.echo("nothing to summarise")
    for repair in plan.repairs:
        tool = f" of {repair.name}" if repair.name else ""
        click.echo(f"{repair.kind} at message {repair.at}: {repair.id}{tool}")
