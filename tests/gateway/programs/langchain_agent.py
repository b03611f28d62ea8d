"""An agent of LangChain: reads a task from stdin, and prints the calls that it made and its texts."""

import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

task = json.load(sys.stdin)
calls: list[Any] = []


def model() -> Any:
    options: Any = {"model": task["model"], "api_key": "sk-test", "max_retries": 0}
    if task["api"] == "messages":
        return ChatAnthropic(base_url=task["url"], max_tokens=500, **options)
    return ChatOpenAI(base_url=task["url"] + "/v1", use_responses_api=task["api"] == "responses", **options)


def tool(name: str, schema: Any) -> StructuredTool:
    def run(**arguments: Any) -> str:
        calls.append([name, arguments])
        return str(task["results"][name])

    return StructuredTool.from_function(run, name=name, description="A tool.", args_schema=schema)


agent = create_agent(model(), [tool(name, schema) for name, schema in task["tools"].items()])
question: Any = {"messages": [{"role": "user", "content": task["prompt"]}]}
if task["streamed"]:
    state: Any = None
    for mode, value in agent.stream(question, stream_mode=["messages", "values"]):
        if mode == "values":
            state = value
else:
    state = agent.invoke(question)
texts = [message.text for message in state["messages"] if isinstance(message, AIMessage)]
print(json.dumps({"calls": calls, "texts": texts}))
