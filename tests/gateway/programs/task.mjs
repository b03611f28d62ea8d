// What the programs in JavaScript share: the task, the packages of a folder, and the output.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const task = JSON.parse(readFileSync(0, "utf8"));

const require = createRequire(resolve(process.argv[2], "package.json"));

export async function load(name) {
  return import(pathToFileURL(require.resolve(name)).href);
}

export function finish(calls, texts) {
  process.stdout.write(JSON.stringify({ calls, texts }) + "\n");
}
