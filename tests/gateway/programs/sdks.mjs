// The openai and @anthropic-ai/sdk packages: `node sdks.mjs FOLDER`. FOLDER contains node_modules.
//
// Reads a task from stdin, and prints the calls and texts that the SDK gives.

import { load, finish, task } from "./task.mjs";

const STEPS = 6;
const calls = [];
const texts = [];
await { chat, responses, messages }[task.api]();
finish(calls, texts);

async function chat() {
  const client = await openai();
  const messages = [{ role: "user", content: task.prompt }];
  const tools = Object.entries(task.tools).map(([name, parameters]) => ({
    type: "function",
    function: { name, parameters },
  }));
  const request = { model: task.model, messages, tools };
  for (let step = 0; step < STEPS; step++) {
    const answer = task.streamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const { message, finish_reason } = answer.choices[0];
    texts.push(message.content ?? "");
    const made = message.tool_calls ?? [];
    check(finish_reason, made.length ? "tool_calls" : "stop");
    if (!made.length) return;
    const history = made.map(({ id, function: { name, arguments: json } }) => ({
      id,
      type: "function",
      function: { name, arguments: json },
    }));
    messages.push({ role: "assistant", content: message.content, tool_calls: history });
    for (const { id, function: called } of made) {
      messages.push({ role: "tool", tool_call_id: id, content: run(called.name, JSON.parse(called.arguments)) });
    }
  }
}

async function responses() {
  const client = await openai();
  const input = [{ role: "user", content: task.prompt }];
  const tools = Object.entries(task.tools).map(([name, parameters]) => ({
    type: "function",
    name,
    parameters,
    strict: false,
  }));
  const request = { model: task.model, input, tools };
  for (let step = 0; step < STEPS; step++) {
    const response = task.streamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    texts.push(response.output_text);
    check(response.status, "completed");
    const made = response.output.filter((item) => item.type === "function_call");
    if (!made.length) return;
    // The SDK adds what it has parsed.
    for (const { parsed_arguments, ...item } of response.output) {
      if (item.content) item.content = item.content.map(({ parsed, ...part }) => part);
      input.push(item);
    }
    for (const call of made) {
      const output = run(call.name, JSON.parse(call.arguments));
      input.push({ type: "function_call_output", call_id: call.call_id, output });
    }
  }
}

async function messages() {
  const { default: Anthropic } = await load("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: task.url, apiKey: "sk-test", maxRetries: 0 });
  const messages = [{ role: "user", content: task.prompt }];
  const tools = Object.entries(task.tools).map(([name, input_schema]) => ({ name, input_schema }));
  const request = { model: task.model, max_tokens: 500, messages, tools };
  for (let step = 0; step < STEPS; step++) {
    const message = task.streamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    texts.push(message.content.map((block) => block.text ?? "").join(""));
    const made = message.content.filter((block) => block.type === "tool_use");
    check(message.stop_reason, made.length ? "tool_use" : "end_turn");
    if (!made.length) return;
    messages.push({ role: "assistant", content: message.content });
    const content = made.map(({ id, name, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: run(name, input),
    }));
    messages.push({ role: "user", content });
  }
}

async function openai() {
  const { default: OpenAI } = await load("openai");
  return new OpenAI({ baseURL: task.url + "/v1", apiKey: "sk-test", maxRetries: 0 });
}

function run(name, input) {
  calls.push([name, input]);
  return task.results[name];
}

function check(given, wanted) {
  if (given !== wanted) throw new Error(`the answer ended with ${given} instead of ${wanted}`);
}
