"""`wirecall tokens`: the cost of definitions and calls."""

import dataclasses
from typing import Any

import click

from wirecall import Format, Toolset
from wirecall import tokens as counting
from wirecall._cli.inputs import UserError, blame, read_calls, reject_shared_stdin, title_of
from wirecall._cli.options import load_tools, manual_options, protocol_name, protocol_options, tools_option
from wirecall._cli.outputs import to_json
from wirecall.errors import install_extra


@click.command(
    epilog=f"""\b
Examples:
  wirecall tokens --tools tools.json
  wirecall tokens --tools tools.json --calls calls.jsonl --json
  wirecall tokens --tools tools.json --characters

Needs tiktoken. {install_extra("tokens")}.
tiktoken downloads a vocabulary once and caches it; without a network, set TIKTOKEN_CACHE_DIR to the
directory of a copy.
""",
)
@tools_option()
@click.option(
    "--calls", "calls_path", metavar="FILE", help='Calls, one {"name": …, "arguments": {…}} on each line.'
)
@click.option("--encoding", default=counting.ENCODING, metavar="NAME", help="tiktoken vocabulary.")
@protocol_options
@click.option("--characters", is_flag=True, help="Count characters instead; needs no tiktoken.")
@manual_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def tokens(
    tools_path: str,
    calls_path: str | None,
    encoding: str,
    protocol: str | Format,
    characters: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Count tokens of definitions and calls, native and as text.

    Native definitions are counted as OpenAI chat tools in minified JSON. How providers render them for the
    model is not public, so these counts are an estimate.
    """
    reject_shared_stdin(tools_path, calls_path)
    tools = load_tools(tools_path)
    calls = list(read_calls(calls_path)) if calls_path is not None else []
    try:
        count: counting.Count = len if characters else counting.tokenizer(encoding)
    except counting.VocabularyError as error:
        raise UserError(f"{error} Or use --characters.") from error
    with blame(title_of(tools_path)):
        toolset = Toolset(tools, protocol=protocol)
        costs = counting.measure(tools, count=count, protocol=protocol, **options)
    for place, name, arguments in calls:
        with blame(place):
            costs.calls.append(counting.call_cost(toolset, name, arguments, count))
    unit = "characters" if characters else "tokens"
    if as_json:
        vocabulary = None if characters else encoding
        report = to_json({"unit": unit, "encoding": vocabulary, **dataclasses.asdict(costs)})
    else:
        report = counting.tables(
            costs, unit if characters else f"{unit} of {encoding}", protocol_name(protocol)
        )
    print(report, flush=True)
