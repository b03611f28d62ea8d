"""The openai and anthropic SDKs: reads a task from stdin, and prints the calls and texts that they give."""

import json
import sys
from typing import Any

import anthropic
import openai

task = json.load(sys.stdin)
MODEL, TOOLS, STEPS = task["model"], task["tools"], 6
calls: list[Any] = []
texts: list[str] = []


def chat() -> None:
    client = openai.OpenAI(base_url=task["url"] + "/v1", api_key="sk-test", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": task["prompt"]}]
    functions = [{"name": name, "parameters": schema} for name, schema in TOOLS.items()]
    request: Any = {
        "model": MODEL,
        "messages": messages,
        "tools": [{"type": "function", "function": function} for function in functions],
    }
    for _ in range(STEPS):
        if task["streamed"]:
            with client.chat.completions.stream(**request) as stream:
                choice = stream.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(**request).choices[0]
        message = choice.message
        texts.append(message.content or "")
        assert choice.finish_reason == ("tool_calls" if message.tool_calls else "stop")
        if not message.tool_calls:
            return
        made = [call.to_dict() for call in message.tool_calls]
        for call in made:
            call.pop("index", None)
            call["function"].pop("parsed_arguments", None)
        messages.append({"role": "assistant", "content": message.content, "tool_calls": made})
        for call in made:
            result = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def responses() -> None:
    client = openai.OpenAI(base_url=task["url"] + "/v1", api_key="sk-test", max_retries=0)
    items: list[Any] = [{"role": "user", "content": task["prompt"]}]
    functions = [{"name": name, "parameters": schema, "strict": False} for name, schema in TOOLS.items()]
    request: Any = {
        "model": MODEL,
        "input": items,
        "tools": [{"type": "function", **function} for function in functions],
    }
    for _ in range(STEPS):
        if task["streamed"]:
            with client.responses.stream(**request) as stream:
                response: Any = stream.get_final_response()
        else:
            response = client.responses.create(**request)
        texts.append(response.output_text)
        assert response.status == "completed"
        made = [item for item in response.output if item.type == "function_call"]
        if not made:
            return
        items += [item.to_dict() for item in response.output]
        for item in items:
            item.pop("parsed_arguments", None)
            for part in item["content"] if isinstance(item.get("content"), list) else ():
                part.pop("parsed", None)
        for call in made:
            result = run(call.name, json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def messages() -> None:
    client = anthropic.Anthropic(base_url=task["url"], api_key="sk-test", max_retries=0)
    conversation: list[Any] = [{"role": "user", "content": task["prompt"]}]
    request: Any = {
        "model": MODEL,
        "max_tokens": 500,
        "messages": conversation,
        "tools": [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()],
    }
    for _ in range(STEPS):
        if task["streamed"]:
            with client.messages.stream(**request) as stream:
                message: Any = stream.get_final_message()
        else:
            message = client.messages.create(**request)
        texts.append("".join(block.text for block in message.content if block.type == "text"))
        made = [block for block in message.content if block.type == "tool_use"]
        assert message.stop_reason == ("tool_use" if made else "end_turn")
        if not made:
            return
        conversation.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": run(block.name, block.input)}
            for block in made
        ]
        conversation.append({"role": "user", "content": results})


def count() -> dict[str, Any]:
    """The models, and the tokens of the prompt with and without the tools."""
    prompt, name = task["prompt"], next(iter(TOOLS))
    client = openai.OpenAI(base_url=task["url"] + "/v1", api_key="sk-test", max_retries=0)
    count = client.responses.input_tokens.count
    functions: Any = [{"type": "function", "name": name, "parameters": TOOLS[name], "strict": False}]
    responses = [
        count(model=MODEL, input=prompt).input_tokens,
        count(model=MODEL, input=prompt, tools=functions).input_tokens,
    ]
    other = anthropic.Anthropic(base_url=task["url"], api_key="sk-test", max_retries=0)
    messages: Any = [{"role": "user", "content": prompt}]
    tools: Any = [{"name": name, "input_schema": TOOLS[name]}]
    counted = [
        other.messages.count_tokens(model=MODEL, messages=messages).input_tokens,
        other.messages.count_tokens(model=MODEL, messages=messages, tools=tools).input_tokens,
    ]
    models = [model.id for model in client.models.list()]
    return {"models": models, "responses": responses, "messages": counted}


def run(name: str, arguments: Any) -> str:
    calls.append([name, arguments])
    return str(task["results"][name])


if task["api"] == "count":
    print(json.dumps(count()))
else:
    {"chat": chat, "responses": responses, "messages": messages}[task["api"]]()
    print(json.dumps({"calls": calls, "texts": texts}))
