// An agent of the AI SDK: `node ai_sdk.mjs FOLDER`. FOLDER contains node_modules.
//
// Reads a task from stdin, and prints the calls that it made and the texts that it got.

import { load, finish, task } from "./task.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const { generateText, jsonSchema, streamText, tool, ...ai } = await load("ai");
const calls = [];
const tools = Object.fromEntries(
  Object.entries(task.tools).map(([name, schema]) => [
    name,
    tool({
      description: "A tool.",
      inputSchema: jsonSchema(schema),
      execute: async (input) => {
        calls.push([name, input]);
        return task.results[name];
      },
    }),
  ]),
);
// Version 7 has another name for it.
const stopWhen = (ai.stepCountIs ?? ai.isStepCount)(6);
const request = { prompt: task.prompt, tools, stopWhen, maxRetries: 0, ...(await model()) };
const steps = task.streamed ? await streamed() : (await generateText(request)).steps;
finish(
  calls,
  steps.map((step) => step.text),
);

async function model() {
  const settings = { baseURL: task.url + "/v1", apiKey: "sk-test" };
  if (task.api === "compatible") {
    const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
    return { model: createOpenAICompatible({ name: "tests", includeUsage: true, ...settings })(task.model) };
  }
  if (task.api === "messages") {
    const { createAnthropic } = await load("@ai-sdk/anthropic");
    return { model: createAnthropic(settings)(task.model) };
  }
  const { createOpenAI } = await load("@ai-sdk/openai");
  const openai = createOpenAI(settings);
  if (task.api === "chat") return { model: openai.chat(task.model) };
  // By default, it refers to items of earlier answers by their ids.
  const providerOptions = task.api === "unstored" ? { openai: { store: false } } : {};
  return { model: openai(task.model), providerOptions };
}

async function streamed() {
  let failure;
  const result = streamText({ ...request, onError: ({ error }) => (failure = error) });
  for await (const part of result.fullStream ?? result.stream) {
    if (part.type === "error") throw part.error;
  }
  if (failure) throw failure;
  return result.steps;
}
