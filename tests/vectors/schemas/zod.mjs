// Writes zod.jsonl: the same shapes by both versions of zod, as the libraries that servers use write their schemas.
//
//     npm install zod@4.6.7 zod3@npm:zod@3.25.76 zod-to-json-schema@3.25.2 && node zod.mjs > zod.jsonl
import { z as four } from "zod";
import { z as three } from "zod3";
import { zodToJsonSchema } from "zod-to-json-schema";

// Each shape, and arguments that it accepts.
const shapes = {
  weather: [
    (z) => z.object({
      location: z.string().describe("A city"),
      days: z.number().int().min(1).max(7).default(1),
      units: z.enum(["metric", "imperial"]).optional(),
    }),
    [{ location: "Rome" }, { location: "5", days: 3 }, { location: "New York", units: "metric", days: 7 }],
  ],
  tuples: [
    (z) => z.object({
      point: z.tuple([z.number(), z.string()]),
      more: z.tuple([z.boolean()]).rest(z.string()).optional(),
    }),
    [{ point: [1.5, "5"] }, { point: [-2, "a,b"], more: [true] }, { point: [0, ""], more: [false, "1", "null"] }],
  ],
  kinds: [
    (z) => z.object({
      action: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("move"), x: z.number(), y: z.number().default(0) }),
        z.object({ kind: z.literal("say"), text: z.string(), loud: z.boolean().default(false) }),
      ]),
    }),
    [{ action: { kind: "move", x: 1 } }, { action: { kind: "say", text: "5" } }, { action: { kind: "say", text: "x y", loud: true } }],
  ],
  records: [
    (z) => z.object({ counts: z.record(z.string(), z.number()), any: z.record(z.string(), z.unknown()).optional() }),
    [{ counts: {} }, { counts: { "a b": 1, "</call>": 2.5 } }, { counts: { a: 1 }, any: { x: [null, "1", 1], y: {} } }],
  ],
  nullable: [
    (z) => z.object({
      note: z.string().nullable(),
      limit: z.number().int().nullish(),
      mode: z.literal("fast").nullable().default(null),
      either: z.union([z.string(), z.number(), z.array(z.string())]).default("auto"),
    }),
    [{ note: null }, { note: "null", limit: null }, { note: "", limit: 5, mode: "fast", either: "5" }, { note: "x", either: 5 }, { note: "x", either: ["5"] }],
  ],
  nested: [
    (z) => z.object({
      profile: z.object({
        name: z.string(),
        address: z.object({ city: z.string().default("Rome"), zip: z.string().regex(/^[0-9]{5}$/).optional() }),
        tags: z.array(z.string()).default([]),
      }),
      page: z.object({ size: z.number().int().default(10), offset: z.number().int().default(0) }).default({ size: 10, offset: 0 }),
    }),
    [
      { profile: { name: "Ann", address: {} } },
      { profile: { name: "true", address: { city: "5", zip: "01234" }, tags: ["a,b", "1"] }, page: {} },
      { profile: { name: "x", address: { zip: "00000" } }, page: { offset: 3 } },
    ],
  ],
  tree: [
    (z) => {
      const node = z.lazy(() => z.object({ value: z.string(), children: z.array(node).optional() }));
      return z.object({ root: node, depth: z.number().default(2) });
    },
    [{ root: { value: "1" } }, { root: { value: "a", children: [{ value: "b", children: [] }, { value: "null" }] }, depth: 0.5 }],
  ],
  formats: [
    (z) => z.object({
      email: z.string().email().optional(),
      url: z.string().url().optional(),
      id: z.string().uuid().optional(),
      at: z.string().datetime().optional(),
      day: z.string().date().optional(),
    }),
    [
      {},
      { email: "a.b@example.org", url: "https://example.org/?q=a&b=c#x" },
      { id: "123e4567-e89b-12d3-a456-426614174000", at: "2024-01-01T00:00:00Z", day: "2024-02-29" },
    ],
  ],
  parts: [
    (z) => z.object({
      both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().default(1) })),
    }),
    [{ both: { a: "5" } }, { both: { a: "x", b: 2 } }],
  ],
  others: [
    (z) => z.object({
      closed: z.object({ a: z.string() }).strict().optional(),
      typed: z.object({ a: z.string() }).catchall(z.number()).optional(),
      open: z.object({ a: z.string() }).passthrough().optional(),
      anything: z.any(),
    }),
    [
      { closed: { a: "1" }, anything: "5" },
      { typed: { a: "1", b: 1 }, anything: 5 },
      { open: { a: "1", b: "1", "c d": [1] }, anything: [{ "x=y": null }] },
    ],
  ],
  shared: [
    (z) => {
      const size = z.object({ width: z.number(), height: z.number().default(1) });
      const pair = z.tuple([size, z.string()]);
      return z.object({ first: pair, second: pair, third: size, list: z.array(size).min(1).max(3).optional() });
    },
    [
      { first: [{ width: 1 }, "1"], second: [{ width: 2, height: 3 }, "x y"], third: { width: 0.5 } },
      { first: [{ width: 1 }, ""], second: [{ width: 2 }, "a"], third: { width: 5 }, list: [{ width: 1 }, { width: 2, height: 2 }] },
    ],
  ],
};

const write = (id, library, schema, valid) => console.log(JSON.stringify({ id, library, schema, valid }));
for (const [id, [make, valid]] of Object.entries(shapes)) {
  const [old, now] = [make(three), make(four)];
  for (const shape of [old, now]) {
    valid.forEach((given) => shape.parse(given));
  }
  write(id, "zod 4, output", four.toJSONSchema(now), valid);
  write(id, "zod 4, input", four.toJSONSchema(now, { io: "input" }), valid);
  write(id, "zod 4, draft-7", four.toJSONSchema(now, { target: "draft-7" }), valid);
  write(id, "zod-to-json-schema", zodToJsonSchema(old), valid);
  write(id, "zod-to-json-schema, strict", zodToJsonSchema(old, { strictUnions: true, effectStrategy: "input" }), valid);
  const { $schema, ...rest } = zodToJsonSchema(old, { $refStrategy: "root" });
  write(id, "zod-to-json-schema, draft not named", rest, valid);
}
