// What JavaScript's readers of server-sent events make of a stream: `node read.mjs FOLDER`. FOLDER contains node_modules.
//
// Each line on stdin is one stream: a list of chunks in base64. Each line on stdout says what each reader made
// of it: {"openai": {"events": [...], "error": "SyntaxError" or null}, "anthropic": ..., "eventsource": ...}.

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(resolve(process.argv[2], "package.json"));
const readers = { openai: sdk("openai/streaming"), anthropic: sdk("@anthropic-ai/sdk/streaming"), eventsource };
const { createParser } = require("eventsource-parser");

// The SDKs log what they cannot parse.
console.error = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const chunks = JSON.parse(line).map((chunk) => Buffer.from(chunk, "base64"));
  const made = {};
  for (const [name, read] of Object.entries(readers)) {
    made[name] = await outcome(read, chunks);
  }
  process.stdout.write(JSON.stringify(made) + "\n");
}

async function outcome(read, chunks) {
  const events = [];
  try {
    await read(chunks, (event) => events.push(event));
    return { events, error: null };
  } catch (error) {
    return { events, error: error.constructor.name };
  }
}

function sdk(name) {
  const { Stream } = require(name);
  return async (chunks, add) => {
    const body = new ReadableStream({
      start(controller) {
        chunks.forEach((chunk) => controller.enqueue(new Uint8Array(chunk)));
        controller.close();
      },
    });
    for await (const event of Stream.fromSSEResponse(new Response(body), new AbortController())) {
      add(event);
    }
  };
}

async function eventsource(chunks, add) {
  const parser = createParser({ onEvent: ({ data, id }) => add({ data, id }) });
  const decoder = new TextDecoder();
  chunks.forEach((chunk) => parser.feed(decoder.decode(chunk, { stream: true })));
  parser.feed(decoder.decode());
}
