import type { JsonObject, Tool, ToolCall } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  createToolRegistry,
  defineTool,
  type DispatchTool,
  isDispatchTool,
  type JsonSchema,
  operatorToTool,
  type StandardSchema,
} from "./index.ts";

// The input follows from a Zod schema: what comes out of it, defaults and transforms included.
const read = defineTool({
  name: "read",
  description: "",
  effect: "read",
  input: z.object({ path: z.string(), lines: z.number().default(10), when: z.string().transform((text) => text.length) }),
  execute(input, call) {
    expectTypeOf(input).toEqualTypeOf<{ path: string; lines: number; when: number }>();
    expectTypeOf(call).toEqualTypeOf<ToolCall>();
    return input.path.repeat(input.lines);
  },
  permissionText: ({ path }) => path,
  async reconcile({ path }) {
    return path === "" ? "unknown" : { output: path };
  },
});

// A plain JSON Schema gives an object of JSON, which its author may annotate more narrowly.
const raw = defineTool({
  name: "raw",
  description: "",
  input: { type: "object", properties: { a: { type: "number" } } },
  execute: (input) => input["a"] ?? null,
});
defineTool({ name: "raw", description: "", input: { type: "object" }, execute: ({ a }: { a: number }) => a + 1 });

// A schema that cannot describe itself needs its JSON Schema beside it.
declare const mute: StandardSchema<unknown, { q: string }>;
declare const jsonSchema: JsonSchema;
const paired = defineTool({ name: "paired", description: "", input: { schema: mute, jsonSchema }, execute: ({ q }) => q.length });
// @ts-expect-error it cannot be described to a model
defineTool({ name: "mute", description: "", input: mute, execute: () => 1 });
// @ts-expect-error a text is no schema
defineTool({ name: "text", description: "", input: "string", execute: () => 1 });

// Outputs are JSON, parts or nothing, at once or later; what JSON cannot hold is refused where it can be seen.
defineTool({ name: "void", description: "", input: {}, async execute() {} });
defineTool({ name: "parts", description: "", input: {}, execute: () => ({ type: "content", content: [{ type: "text", text: "" }] }) });
// @ts-expect-error a function is no JSON
defineTool({ name: "function", description: "", input: {}, execute: () => () => 1 });
// @ts-expect-error a bigint is no JSON
defineTool({ name: "bigint", description: "", input: {}, execute: () => 1n });
// @ts-expect-error there is no such effect
defineTool({ name: "effect", description: "", input: {}, effect: "none", execute: () => 1 });

// Tools of different inputs share one array and one registry without annotations.
const tools: readonly Tool[] = [read, raw, paired];
createToolRegistry([read, raw, paired]);
void tools;

const dispatch = operatorToTool({
  name: "d",
  description: "",
  operator: "o",
  input: z.object({ n: z.number() }),
  message: ({ n }) => n.toFixed(),
});
const some: Tool = dispatch;

describe("the types of tools", () => {
  it("follow from the schema of the input: Zod, JSON Schema, or a pair of both", () => {
    expectTypeOf(read).toEqualTypeOf<Tool<{ path: string; lines: number; when: number }>>();
    expectTypeOf(raw).toEqualTypeOf<Tool<JsonObject>>();
    expectTypeOf(paired).toEqualTypeOf<Tool<{ q: string }>>();
  });

  it("tell a tool that dispatches from one that runs", () => {
    expectTypeOf(dispatch).toEqualTypeOf<DispatchTool<{ n: number }>>();
    if (isDispatchTool(some)) expectTypeOf(some.dispatch.operator).toEqualTypeOf<string>();
  });
});
