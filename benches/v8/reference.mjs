// The reference's stream parser under Node: reads one workload from standard input, then measures on request.
//
//     node reference.mjs CHECKOUT ESBUILD
//
// CHECKOUT is one of ai-sdk-wire-middleware, ESBUILD the folder of that package, which removes the types. The first line of
// input is a workload, {"tools", "deltas"}, and is answered with {"calls", "errors"}. Each further line, {"kept", "times"}, is
// answered with {"seconds"}, for that many messages.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [checkout, esbuild] = process.argv.slice(2);

// The parser is an object with `transform` and `flush`, without a stream around it.
globalThis.TransformStream = class {
  constructor(transformer) {
    return transformer;
  }
};

// `makeParser` is not exported.
const exporting = {
  name: 'exporting',
  setup(build) {
    build.onLoad({ filter: /wrap-stream\.ts$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\nexport { makeParser };`,
      loader: 'ts',
    }));
  },
};

async function load() {
  const source = (name) => JSON.stringify(join(checkout, 'src', name));
  const built = await createRequire(import.meta.url)(esbuild).build({
    stdin: {
      contents: `export { makeParser } from ${source('wrap-stream.ts')}; export { planTools } from ${source('signature.ts')};`,
      resolveDir: checkout,
    },
    plugins: [exporting],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].contents).toString('base64')}`);
}

const { makeParser, planTools } = await load();
let plans, chunks;

// One message, and its events.
function keep() {
  const events = [];
  const controller = { enqueue: (event) => events.push(event) };
  const parser = makeParser(plans);
  for (const chunk of chunks) parser.transform(chunk, controller);
  parser.flush(controller);
  return events;
}

// One message. The events of each delta replace those of the one before.
function drop() {
  const events = [];
  let count = 0;
  const controller = { enqueue: (event) => (events[count++] = event) };
  const parser = makeParser(plans);
  for (const chunk of chunks) {
    count = 0;
    parser.transform(chunk, controller);
  }
  parser.flush(controller);
}

function prepare({ tools, deltas }) {
  const functions = tools.map(({ name, description, parameters }) => ({
    type: 'function', name, description, inputSchema: parameters,
  }));
  // The default options of the middleware.
  const planned = planTools(functions, { syntax: 'wire', fallbackToJson: 'complex' });
  plans = new Map(planned.map((plan) => [plan.name, plan]));
  chunks = deltas.map((delta) => ({ type: 'text-delta', id: '0', delta }));
  const events = keep();
  return {
    calls: events.filter(({ type }) => type === 'tool-call').map(({ toolName, input }) => [toolName, JSON.parse(input)]),
    errors: events.filter(({ type }) => type === 'error').map(({ error }) => error.message),
  };
}

function measure({ kept, times }) {
  const message = kept ? keep : drop;
  const started = process.hrtime.bigint();
  for (let time = 0; time < times; time++) message();
  return { seconds: Number(process.hrtime.bigint() - started) / 1e9 };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify('deltas' in request ? prepare(request) : measure(request)));
}
