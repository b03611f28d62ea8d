"""The marks of the chat templates of each format: the data of `protocol_from_template`, one line for each.

A line fits if all of its marks are in a template, which is read without comments, with strings in single
quotes and one space between words of code. Where several fit, those whose marks are among another's are left
out. The rest must name one format.
"""

from typing import NamedTuple


class Marks(NamedTuple):
    """What is in the chat templates of one format."""

    protocol: str
    has: tuple[str, ...]
    """Texts that are all in the template."""
    lacks: tuple[str, ...] = ()
    """Texts of formats that have the same marks, and more."""
    prompt: tuple[str, ...] = ()
    """Texts that are all shortly after one `add_generation_prompt`: how the prompt ends."""
    prompt_lacks: str = ""
    """A text that is not there, where those are."""


JSON_CALL = ("<tool_call>", "</tool_call>", '"name": ', '"arguments": ')
# A call in the code of the template, beside the one that most have in their instructions.
TAGGED_CALL = ("<tool_call>\n<function='", "<parameter='", "\n</parameter>", "</function>\n</tool_call>")
QWEN35_CALL = (*TAGGED_CALL, "\n\n<tool_call>\n<function=")
KEY_TAGS = ("<tool_call>'", "<arg_key>", "<arg_value>", "</tool_call>")
V3_CALL = ("<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "'```json'")
K2_CALL = ("<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>")
LLAMA_TURN = ("<|start_header_id|>", "<|eot_id|>")
THINKS = "assistant\n<think>\n'"
# Thinking is off unless it is asked for.
OFF = "enable_thinking is true"
JSON_IN_TAGS = ('<tool_call>\n{"name": "', *JSON_CALL)
CHANNELS = ("<|channel|>", "'<|channel|>commentary ", "functions.", "<|call|>")

CHAT = (
    # Marks that only one family has
    Marks("apertus", ("<|tools_prefix|>", "<|tools_suffix|>")),
    Marks("cohere-command4", ("<|START_ACTION|>", '"tool_name"', '"parameters"', "<|START_TEXT|>")),
    Marks("cohere", ("<|START_ACTION|>", '"tool_name"', '"parameters"', "<|START_RESPONSE|>")),
    Marks("dots", ("<dots_function_call>", "<invoke name=", "<parameter name=")),
    Marks("functiongemma", ("<start_function_call>call:", "<end_function_call>", "<escape>")),
    Marks("gemma4", ("<|tool_call>call:", "<tool_call|>", '<|"|>')),
    Marks("gigachat3.5", ("｜GCML｜", "invoke name=")),
    Marks("gigachat3", ("<|message_sep|>", "<|role_sep|>", "'function call'")),
    Marks("gigachat3", ("<|message_sep|>", "<|role_sep|>", "<|function_call|>")),
    Marks("hy3", ("'<tool_calls{}>'", "'<tool_call{}>'", "'<tool_sep{}>'", "'<arg_key{}>'")),
    Marks("inkling", ("<|content_invoke_tool_json|>", "<|end_message|>")),
    Marks("internlm2", ("<|action_start|>", "<|plugin|>", "<|action_end|>")),
    Marks("iquest-q1", ("<iquest_tool_call>", "<arg_key>")),
    Marks("k2-horizon", ("<ifm|tool_calls>", "<ifm|tool_call>")),
    Marks("kimi-k3", ("'<|open|>' + tag", "'<|close|>' + tag", "open_tag('call'", "open_tag('argument'")),
    Marks("lfm2", ("<|tool_call_start|>[", "]<|tool_call_end|>")),
    Marks("longcat", ("<longcat_tool_call>", "</longcat_tool_call>")),
    Marks("minicpm5", ("'<function name=\"'", "'<param name=\"'", "CDATA")),
    Marks("minimax-m3", ("]<]minimax[>[", "tool_call>", "invoke name=")),
    Marks("minimax-m2", ("<minimax:tool_call>", "<invoke name=", "<parameter name=")),
    Marks("muse", ("<atem:function_calls>", "<atem:invoke name=", "<atem:parameter name=")),
    Marks("nemotron-nano-v2", ("<TOOLCALL>[", "]</TOOLCALL>", '"name": ', '"arguments": ')),
    Marks("plamo3", ("<|plamo:begin_tool_requests:plamo|>", "<|plamo:begin_tool_name:plamo|>")),
    Marks("seed-oss", ("<seed:tool_call>", "<function=", "<parameter=", "</seed:tool_call>")),
    Marks("solar-open", ("<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>")),
    Marks("step-3", ("<steptml:invoke name=", "<steptml:parameter name=")),
    # DeepSeek and Kimi
    Marks("deepseek-v4.1", ("｜DSML｜", "' calls>", "parameter name="), ("tool_calls>", "function_calls>")),
    Marks("deepseek-v4", ("｜DSML｜", "'tool_calls>", "invoke name=", "parameter name=")),
    Marks("deepseek-v3.2", ("｜DSML｜", "'function_calls>", "invoke name=", "parameter name=")),
    Marks("deepseek-r1", V3_CALL, prompt=("<｜Assistant｜><think>\n'",)),
    Marks("deepseek-v3", V3_CALL),
    Marks("deepseek-v3.1", V3_CALL[:-1], ("'```json'", "function<｜tool▁sep｜>")),
    Marks("kimi-k2.6", K2_CALL, prompt=("assistant<|im_middle|>{%", "<think>")),
    Marks("kimi-k2-thinking", (*K2_CALL, "<think></think>{{", "<think>{{", "}}</think>{{")),
    Marks("kimi-k2", K2_CALL),
    # Channels
    Marks("llm-jp-4.1", (*CHANNELS, "'<|constrain|> json'")),
    Marks("harmony", CHANNELS),
    # Tags with raw values
    Marks("spark-2.5", (*KEY_TAGS, "<|Bot|>")),
    Marks("ling-3", (*KEY_TAGS, "<role>ASSISTANT</role>", "<|role_end|>")),
    Marks("laguna-xs", (*KEY_TAGS, "'<assistant>\n'", "</assistant>", "'</arg_key>\n'")),
    Marks("glm-4.7", (*KEY_TAGS, "'<assistant>'", "</assistant>", "'</arg_key>'")),
    Marks("glm-4.5", (*KEY_TAGS, "<|observation|>", "}}</arg_key>\n<arg_value>")),
    Marks("glm-4.7", (*KEY_TAGS, "<|observation|>", "%}<arg_key>{{", "}}</arg_key><arg_value>")),
    Marks("nemotron-3", (*TAGGED_CALL, "</tool_call>\n'", "<think></think>")),
    Marks("step-3.5", (*TAGGED_CALL, "<im_patch>"), prompt=(THINKS,)),
    Marks("qwen3.5", QWEN35_CALL, prompt=("'<think>\n'",), prompt_lacks=OFF),
    Marks("qwen3coder", QWEN35_CALL, prompt=("'<think>\n'", OFF)),
    Marks("qwen3coder", TAGGED_CALL, prompt=("assistant\n'",), prompt_lacks="<think>"),
    # Named calls, JSON objects and lists of them
    Marks("functionary-v3.2", (*LLAMA_TURN, "'>>>all\n'", "'>>>' + ")),
    Marks("functionary-v3.1", (*LLAMA_TURN, "'<function='", "'</function>'")),
    Marks("firefunction-v2", (*LLAMA_TURN, "functools[")),
    Marks("llama-json", (*LLAMA_TURN, '{"name": "', '"parameters": ', "ipython")),
    Marks("mistral", ("[TOOL_CALLS]", "[TOOL_RESULTS]", "[AVAILABLE_TOOLS]")),
    Marks("granite-3", ("<|start_of_role|>", "<|tool_call|> followed by a JSON list")),
    Marks("command-r-plus", ("<|CHATBOT_TOKEN|>", "Action:\n```json\n[", '"tool_name": ')),
    Marks("apriel-1.6", ("<tool_calls>[", "]</tool_calls>", "[BEGIN FINAL RESPONSE]", "<|begin_assistant|>")),
    Marks("apriel-1.5", ("<tool_calls>[", "]</tool_calls>", "[BEGIN FINAL RESPONSE]", "<|assistant|>")),
    Marks("minimax-m1", ("<tool_calls>\n", "</tool_calls>", '{"name": ', "<beginning_of_sentence>")),
    Marks("ernie-4.5", (*JSON_CALL, "<response>", "</response>")),
    Marks("qwen3-thinking", (*JSON_IN_TAGS, "<|im_start|>"), prompt=(THINKS,)),
    Marks("hermes", JSON_IN_TAGS),
    Marks("hermes", ("'<tool_call>\n'", "'{\"name\": \"'", *JSON_CALL)),
    Marks("hermes", ('{"name": <function-name>, "arguments": <args-dict>}', *JSON_CALL)),
)  # fmt: skip

# The same for the response templates of Hugging Face: one line for each text or pattern, after what it is for
# (anchor, open, close, content, tag, transform). Patterns are without escapes and optional whitespace.
RESPONSE_TAGS = ("open <tool_call><function=", "close </tool_call>", "content xml-inline", "tag <parameter=")
RESPONSE_KEYS = ("open <tool_call>", "close </tool_call>", "content xml-inline", "tag <arg_key>")
RESPONSE_JSON = ("open <tool_call>\n", "close </tool_call>", "content json\n", "transform {content}")
RESPONSE = (
    Marks("cohere-command4", ("open <|START_ACTION|>", "{tool_name}", "{parameters}", "open <|START_TEXT|>")),
    Marks("cohere", ("open <|START_ACTION|>", "{tool_name}", "{parameters}", "open <|START_RESPONSE|>")),
    Marks("gemma4", ("open <|tool_call>call:", "close <tool_call|>", '<|"|>')),
    Marks("harmony", ("to=functions.", "<|channel|>commentary", "close <|call|>", "content json\n")),
    Marks("inkling", ("<|content_invoke_tool_json|>", "close <|end_message|>", "{content.args}")),
    Marks("ernie-4.5", (*RESPONSE_JSON, "open <response>")),
    Marks("glm-4.5", (*RESPONSE_KEYS, "</arg_key>\n<arg_value>")),
    Marks("glm-4.7", (*RESPONSE_KEYS, "</arg_key><arg_value>")),
    Marks("lfm2", ("<|tool_call_start|>[", "]<|tool_call_end|>", "content xml-inline")),
    Marks("llama-json", ('open {"name":', '"parameters":', "<|eot_id|>", "content json\n")),
    # What the prompt holds of the reasoning is in the anchor.
    Marks("nemotron-3", (*RESPONSE_TAGS, "assistant\n<think>(?:\n|</think>)?")),
    Marks("qwen3.5", (*RESPONSE_TAGS, "assistant\n<think>\n")),
    Marks("qwen3coder", RESPONSE_TAGS, ("assistant\n<think>",)),
    Marks("qwen3-thinking", (*RESPONSE_JSON, "assistant\n<think>\n")),
    Marks("hermes", RESPONSE_JSON, ("assistant\n<think>",)),
)  # fmt: skip
