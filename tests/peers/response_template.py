"""Response templates of Hugging Face, and texts in their formats.

The templates are in the tests of transformers (`tests/utils/test_chat_parsing.py`), in TRL 1.16
(`trl/chat_template_utils.py`), and in the documentation of `python-call-list`. The texts are written here.
"""

from typing import Any, NamedTuple

Template = dict[str, Any]


class Fixture(NamedTuple):
    """A declaration, and responses in its format, each after the end of its prompt."""

    source: str
    template: Template
    texts: list[tuple[str, str]]


FUNCTION = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
CHATML = "<|im_start|>assistant\n"
THINK = {"open": "<think>", "close": "</think>", "content": "text"}
SPACED_THINK = {"open": "<think>", "close_pattern": r"</think>\s*", "content": "text"}
AHEAD = {**SPACED_THINK, "open_pattern": r"(?=[\s\S]*?</think>)"}
del AHEAD["open"]
JSON_CALL = {
    "open": "<tool_call>",
    "close": "</tool_call>",
    "repeats": True,
    "content": "json",
    "transform": FUNCTION,
}
LENIENT = {"name": "json", "args": {"allow_non_json": True}}
GEMMA_JSON = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}
COMMENTARY = r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>"


def template(anchor: str | list[str], **fields: Template) -> Template:
    return {"defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields}


def calls(**changes: object) -> Template:
    """Calls as JSON after a name, with these keys."""
    field = {"repeats": True, "content": "json", "transform": NAMED, **changes}
    return {key: value for key, value in field.items() if value is not None}


def tagged(opener: str, tag: str, **changes: object) -> Template:
    """Calls with arguments in tags, with these keys."""
    args = {"tag_pattern": tag, **({"value_parser": changes.pop("values")} if "values" in changes else {})}
    field = {"open_pattern": opener, "close": "</tool_call>", "content": "xml-inline", "content_args": args}
    return calls(**{**field, **changes})


def text(close: str) -> Template:
    return {"close_pattern": close, "content": "text"}


# The one tool that the texts call. Values of `b` and `c` have any type.
PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}, "c": {}}}
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": PARAMETERS}}]

QWEN = (
    r"<tool_call>\s*<function=(?P<name>\w+)>",
    r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>",
)
TRL_QWEN = (
    r"<tool_call>\s*<function=(?P<name>[^\n>]+)>",
    r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>",
)
TRL_CLOSE: dict[str, object] = {"close": None, "close_pattern": r"</tool_call>\s*"}
TRL_TAGGED = tagged(*TRL_QWEN, values={"name": "text"}, **TRL_CLOSE)
# One level of the three that TRL declares.
PYTHON_VALUE = r"(?P<key>\w+)=(?P<value>'[^']*'|[\[{](?:[^\[\]{}'\"]|'[^']*')*[\]}]|[^,)]*)"

JSON_TEXT = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": [2]}}\n</tool_call>'
TAGGED_TEXT = (
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx y\n</parameter>\n"
    "</function>\n</tool_call>"
)
THOUGHT = "<think>\nTwo numbers.\n</think>\n\n"
JSON_TEXTS = [
    (CHATML, f"{THOUGHT}{JSON_TEXT}"),
    (CHATML, f"{THOUGHT}Adding.\n{JSON_TEXT}\n{JSON_TEXT}<|im_end|>"),
    (CHATML, "Three.<|im_end|>"),
]
TAGGED_TEXTS = [
    (CHATML, f"{THOUGHT}{TAGGED_TEXT}"),
    (CHATML, f"{TAGGED_TEXT}\n{TAGGED_TEXT}"),
    (CHATML, TAGGED_TEXT.replace("\n", "")),
]
GEMMA_TEXTS = [
    (
        "<|turn>model\n",
        '<|channel>thought\nTwo.<channel|><|tool_call>call:add{a:1,b:<|"|>x<|"|>,c:[true]}<tool_call|>',
    ),
    ("<|turn>model\n", "Three.<turn|>"),
]
CHANNEL_TEXTS = [
    (
        "<|start|>assistant",
        "<|channel|>analysis<|message|>Two.<|end|><|start|>assistant<|channel|>commentary to=functions.add "
        '<|constrain|>json<|message|>{"a": 1}<|call|>',
    ),
    ("<|start|>assistant", "<|channel|>final<|message|>Three.<|return|>"),
]
GLM_TEXT = "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"

FIXTURES: dict[str, Fixture] = {
    "cohere": Fixture(
        "transformers, cohere_template",
        template(
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            content={"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>", "content": "text"},
            thinking={"open": "<|START_THINKING|>", "close": "<|END_THINKING|>", "content": "text"},
            tool_calls={
                "open": "<|START_ACTION|>",
                "close": "<|END_ACTION|>",
                "content": "json",
                "transform_each": True,
                "transform": {
                    "type": "function",
                    "function": {"name": "{tool_name}", "arguments": "{parameters}"},
                },
            },
        ),
        [
            (
                "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
                "<|START_THINKING|>Two.<|END_THINKING|><|START_ACTION|>[\n"
                '    {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1}},\n'
                '    {"tool_call_id": "1", "tool_name": "add", "parameters": {"a": 2}}\n'
                "]<|END_ACTION|>",
            ),
            ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|START_RESPONSE|>Three.<|END_RESPONSE|>"),
        ],
    ),
    "ernie": Fixture(
        "transformers, ernie_template",
        template(
            "Assistant:",
            thinking={"open_pattern": r"(?:^|<think>\s*)", "close": "</think>", "content": "text"},
            content={"open": "<response>\n", "close_pattern": r"\n?</response>", "content": "text"},
            tool_calls=JSON_CALL,
        ),
        [
            ("", f"Two numbers.\n</think>\n\n{JSON_TEXT}\n"),
            ("", "Two numbers.\n</think>\n\n<response>\nThree.\n</response>\n"),
        ],
    ),
    "gpt-oss": Fixture(
        "transformers, gpt_oss_template",
        template(
            "<|start|>assistant",
            thinking={"open": "<|channel|>analysis<|message|>", "close": "<|end|>", "content": "text"},
            content={"open": "<|channel|>final<|message|>", "close": "<|end|>", "content": "text"},
            tool_calls=calls(open_pattern=COMMENTARY, close="<|call|>"),
        ),
        CHANNEL_TEXTS,
    ),
    "smollm": Fixture(
        "transformers, smollm_template",
        template(
            CHATML, thinking=THINK, tool_calls=JSON_CALL, content={"close": "<|im_end|>", "content": "text"}
        ),
        JSON_TEXTS,
    ),
    "qwen3": Fixture(
        "transformers, qwen3_template",
        template(CHATML, thinking=THINK, tool_calls=tagged(*QWEN, values=LENIENT)),
        TAGGED_TEXTS,
    ),
    "xml-strings": Fixture(
        "transformers, _XML_STRING_ARGS_TEMPLATE",
        template(CHATML, tool_calls=tagged(*QWEN)),
        TAGGED_TEXTS[1:],
    ),
    "gemma4": Fixture(
        "transformers, gemma4_template",
        template(
            ["<|turn>model\n", "<tool_response|>"],
            thinking={"open": "<|channel>thought\n", "close": "<channel|>", "content": "text"},
            tool_calls=calls(
                open_pattern=r"<\|tool_call>call:(?P<name>\w+)", close="<tool_call|>", content_args=GEMMA_JSON
            ),
            content={"close": ["<turn|>", "<|tool_response>", "<eos>"], "content": "text"},
        ),
        GEMMA_TEXTS,
    ),
    "inkling": Fixture(
        "transformers, inkling_template",
        template(
            "<|message_model|>",
            **{
                name: {
                    "open_pattern": rf"(?:<\|message_model\|>)?[^<]*<\|content_{kind}\|>",
                    "close": "<|end_message|>",
                    "repeats": True,
                    **more,
                }
                for name, kind, more in (
                    ("thinking", "thinking", {"join": "", "content_args": {"strip": False}}),
                    ("content", "text", {"join": "", "content_args": {"strip": False}}),
                    (
                        "tool_calls",
                        "invoke_tool_json",
                        {
                            "content": "json",
                            "transform": {
                                "type": "function",
                                "function": {"name": "{content.name}", "arguments": "{content.args}"},
                            },
                        },
                    ),
                )
            },
        ),
        [
            (
                "<|message_model|>",
                "<|content_thinking|>Two.<|end_message|><|message_model|>add<|content_invoke_tool_json|>"
                '{"name":"add","args":{"a":1}}<|end_message|>',
            )
        ],
    ),
    "kv-lines": Fixture(
        "transformers, _KV_LINES_TOOLS_TEMPLATE",
        template(
            CHATML, tool_calls=calls(open_pattern=f"{QWEN[0]}\\n", close="</tool_call>", content="kv-lines")
        ),
        [(CHATML, "<tool_call>\n<function=add>\na: 1\nb: x y\n</tool_call>")],
    ),
    "paths": Fixture(
        "transformers, test_transform_dotted_paths",
        template(
            "<|assistant|>",
            tool_calls=calls(
                open="<tool>",
                close="</tool>",
                transform={
                    "type": "function",
                    "function": {"name": "{content.name}", "arguments": "{content.args}"},
                },
            ),
        ),
        [("<|assistant|>", '<tool>{"name": "add", "args": {"b": {"id": 7}}}</tool>')],
    ),
    "paths-each": Fixture(
        "transformers, test_transform_dotted_paths_with_transform_each",
        template(
            "<|assistant|>",
            tool_calls={
                "open": "<actions>",
                "close": "</actions>",
                "content": "json",
                "transform_each": True,
                "transform": {
                    "type": "function",
                    "function": {"name": "{fn.name}", "arguments": "{fn.args}"},
                },
            },
        ),
        [("<|assistant|>", '<actions>[{"fn": {"name": "add", "args": {"a": 1}}}]</actions>')],
    ),
    "python-call-list": Fixture(
        "transformers, docs/source/en/chat_response_parsing.md",
        template(
            CHATML,
            thinking=THINK,
            tool_calls={
                "open": "<|tool_call_start|>",
                "close": "<|tool_call_end|>",
                "content": "python-call-list",
                "transform_each": True,
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
            },
            content={"close": "<|im_end|>"},
        ),
        [
            (CHATML, "<|tool_call_start|>[add(a=1, b='x y'), add(a=2, b=[None])]<|tool_call_end|>"),
            (CHATML, "Three.<|im_end|>"),
        ],
    ),
    "trl-qwen3": Fixture(
        "TRL, qwen3_template",
        template(
            CHATML,
            reasoning_content=SPACED_THINK,
            tool_calls=calls(
                open="<tool_call>", close_pattern=r"</tool_call>\s*", content="json", transform=FUNCTION
            ),
            content=text(r"<\|im_end\|>\s*"),
        ),
        JSON_TEXTS,
    ),
    "trl-qwen3.5": Fixture(
        "TRL, qwen3_5_template",
        template(
            CHATML, reasoning_content=SPACED_THINK, tool_calls=TRL_TAGGED, content=text(r"<\|im_end\|>\s*")
        ),
        TAGGED_TEXTS,
    ),
    "trl-glm4moe": Fixture(
        "TRL, glm4moe_template",
        template(
            "<|assistant|>",
            reasoning_content=SPACED_THINK,
            tool_calls=tagged(
                r"<tool_call>(?P<name>\S+)\n?",
                r"<arg_key>(?P<key>[^<]+)</arg_key>\s*\n<arg_value>(?P<value>.*?)</arg_value>",
                values={"name": "text"},
                **TRL_CLOSE,
            ),
            content=text(r"<\|user\|>\s*|$"),
        ),
        [
            ("<|assistant|>", f"\n<think>Two.</think>\n{GLM_TEXT}"),
            ("<|assistant|>", f"{GLM_TEXT}\n{GLM_TEXT}<|user|>"),
        ],
    ),
    "trl-llama3": Fixture(
        "TRL, llama3_template",
        template(
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
            tool_calls=calls(
                open_pattern=r'\{"name":\s*"(?P<name>[^"]+)",\s*"parameters":\s*',
                close_pattern=r"\}<\|eot_id\|>\s*",
            ),
            content=text(r"<\|eot_id\|>\s*"),
        ),
        [
            (
                "<|start_header_id|>assistant<|end_header_id|>\n\n",
                '{"name": "add", "parameters": {"a": 1}}<|eot_id|>',
            ),
            ("<|start_header_id|>assistant<|end_header_id|>\n\n", "Three.<|eot_id|>"),
        ],
    ),
    "trl-gptoss": Fixture(
        "TRL, gptoss_template",
        template(
            "<|start|>assistant",
            thinking={"open": "<|channel|>analysis<|message|>", **text(r"<\|end\|>\s*")},
            content={"open": "<|channel|>final<|message|>", **text(r"<\|return\|>\s*")},
            tool_calls=calls(
                open_pattern=r"to=functions\.(?P<name>\S+?)<\|channel\|>commentary\s+json<\|message\|>",
                close_pattern=r"<\|call\|>\s*",
            ),
        ),
        [("<|start|>assistant", ' to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>')],
    ),
    "trl-lfm2.5": Fixture(
        "TRL, lfm2_2_5_template",
        template(
            CHATML,
            thinking=SPACED_THINK,
            tool_calls=tagged(
                r"(?:<\|tool_call_start\|>\[|,\s*)(?P<name>\w+)\(",
                PYTHON_VALUE,
                close=None,
                close_pattern=r"\)(?:\]<\|tool_call_end\|>)?\s*",
                values={"name": "json", "args": {"string_delims": [["'", "'"]], "allow_non_json": True}},
            ),
            content=text(r"<\|im_end\|>\s*"),
        ),
        [(CHATML, "<|tool_call_start|>[add(a=1, b='x y')]<|tool_call_end|>")],
    ),
    "trl-nemotron3": Fixture(
        "TRL, nemotron_3_template",
        {
            "defaults": {"role": "assistant"},
            "start_anchor_pattern": r"<\|im_start\|>assistant\n<think>(?:\n|</think>)?",
            "fields": {
                "reasoning_content": AHEAD,
                "tool_calls": TRL_TAGGED,
                "content": text(r"<\|im_end\|>\s*"),
            },
        },
        [
            (f"{CHATML}<think>\n", f"Two.\n</think>\n{TAGGED_TEXT}\n"),
            (f"{CHATML}<think>\n", "Two.\n</think>\nThree.<|im_end|>"),
        ],
    ),
    "trl-gemma4": Fixture(
        "TRL, gemma4_template",
        {
            "defaults": {"role": "assistant"},
            "start_anchor_pattern": r"(?:<\|turn>model\n|<tool_response\|>)",
            "fields": {
                "reasoning_content": {"open": "<|channel>thought\n", **text(r"<channel\|>\s*")},
                "tool_calls": calls(
                    open_pattern=r"<\|tool_call>call:(?P<name>\w+)",
                    close_pattern=r"<tool_call\|>\s*",
                    content_args=GEMMA_JSON,
                ),
                "content": text(r"(?:<turn\|>|<\|tool_response>|<eos>)\s*|$"),
            },
        },
        GEMMA_TEXTS,
    ),
    "trl-deepseek-r1": Fixture(
        "TRL, deepseek_r1_distill_template",
        template(
            "<｜Assistant｜><think>\n",
            reasoning_content=AHEAD,
            content=text(r"<｜end▁of▁sentence｜>\s*|$"),
        ),
        [("<｜Assistant｜><think>\n", "Two.\n</think>\n\nThree.<｜end▁of▁sentence｜>")],
    ),
}

# The place of what cannot be described, and why.
REFUSED = {
    "gpt-oss": ("['tool_calls']['open_pattern']", "at character 52 matches text that differs"),
    "inkling": ("['content']['open_pattern']", "at character 25 matches text that differs"),
    "kv-lines": ("['tool_calls']['content']", "calls in this form cannot be described"),
    "paths-each": ("['tool_calls']['transform']", "name at 'fn.name' cannot be described"),
    "trl-gptoss": ("['content']['open']", "'<|channel|>' begins reasoning, too, as in channels"),
    "trl-lfm2.5": (
        "['tool_calls']['content_args']['tag_pattern']",
        "at character 14 begins a group that cannot be described",
    ),
    "trl-deepseek-r1": ("['fields']", "there is no field tool_calls"),
}
