import type { JsonObject, PlannedCall, Tool, ToolCall } from "@keelson/protocol";
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

// What an interface declares is JSON too, at any depth, and so is what a reconciled call gave.
interface User {
  name: string;
  tags: readonly string[];
  born: { year: number; month?: number };
  manager?: User | null;
}
declare const user: User;
const find = defineTool({
  name: "find",
  description: "",
  input: z.object({ name: z.string() }),
  execute: async ({ name }): Promise<User> => ({ ...user, name }),
  reconcile: ({ name }) => (name === "" ? "not-done" : { output: user }),
});
defineTool({ name: "list", description: "", input: {}, execute: (): User[] | string => [user] });
defineTool({ name: "any", description: "", input: {}, execute: () => JSON.parse("{}") });

// Beside a plain JSON Schema an interface may say what comes in.
interface Adding {
  a: number;
}
const add = defineTool({ name: "add", description: "", input: { type: "object" }, execute: ({ a }: Adding) => a + 1 });

// An error stands at the option that is wrong, not at the call as a whole.
defineTool({
  name: "place",
  description: "",
  input: z.object({ a: z.string() }),
  // @ts-expect-error a Date is no JSON
  execute: ({ a }) => ({ a, when: new Date() }),
});
defineTool({
  name: "place",
  description: "",
  input: z.object({ a: z.string() }),
  // @ts-expect-error the input has no `b`
  execute: ({ b }) => b,
});
const text = z.object({ a: z.string() });
// @ts-expect-error the schema says that `a` is a string
defineTool({ name: "place", description: "", input: text, execute: ({ a }: { a: number }) => a });
defineTool({
  name: "place",
  description: "",
  // @ts-expect-error it cannot be described to a model
  input: mute,
  execute: () => 1,
});
defineTool({
  name: "place",
  description: "",
  // @ts-expect-error there is no such effect
  effect: "reads",
  input: {},
  execute: () => 1,
});
defineTool({
  name: "place",
  description: "",
  // @ts-expect-error it is called `input`
  inputs: {},
  execute: () => 1,
});
defineTool({
  name: "place",
  description: "",
  input: {},
  execute: () => 1,
  // @ts-expect-error a Map is no JSON
  reconcile: () => ({ output: new Map() }),
});
operatorToTool({
  name: "place",
  description: "",
  operator: "o",
  input: z.object({ n: z.number() }),
  // @ts-expect-error a message is text or parts
  message: ({ n }) => n,
});

// An approval is needed always, never, or for calls that a function of the typed input names.
const approved = defineTool({
  name: "approved",
  description: "",
  input: z.object({ cents: z.number() }),
  async needsApproval(input, call) {
    expectTypeOf(input).toEqualTypeOf<{ cents: number }>();
    expectTypeOf(call).toEqualTypeOf<PlannedCall>();
    return input.cents > 100;
  },
  execute: () => 1,
});
defineTool({ name: "approved", description: "", input: {}, needsApproval: true, execute: () => 1 });
defineTool({ name: "approved", description: "", input: text, needsApproval: ({ a }) => a === "", execute: () => 1 });
// @ts-expect-error the input has no `b`
defineTool({ name: "approved", description: "", input: text, needsApproval: ({ b }) => b === "", execute: () => 1 });
// @ts-expect-error an approval is needed or not
defineTool({ name: "approved", description: "", input: text, needsApproval: () => "yes", execute: () => 1 });
operatorToTool({ name: "approved", description: "", operator: "o", input: text, needsApproval: ({ a }) => a === "" });

// A generator yields and returns JSON; the type of its input is known inside of it.
defineTool({
  name: "generator",
  description: "",
  input: text,
  async *execute({ a }, { progress }) {
    expectTypeOf(a).toEqualTypeOf<string>();
    progress(a);
    yield { message: a, ratio: 0.5 };
    yield user;
    return user;
  },
});
defineTool({
  name: "generator",
  description: "",
  input: text,
  *execute({ a }) {
    yield a;
  },
});
defineTool({ name: "stream", description: "", input: {}, execute: () => new ReadableStream<Uint8Array>() });
defineTool({ name: "stream", description: "", input: {}, execute: async () => new ReadableStream<string>() });
defineTool({
  name: "parts",
  description: "",
  input: {},
  execute: () => ({ content: [{ type: "image", data: "", mimeType: "image/png" }] }),
});
defineTool({
  name: "generator",
  description: "",
  input: text,
  // @ts-expect-error a Date is no JSON
  async *execute() {
    yield 1;
    return new Date();
  },
});

// Tools of different inputs share one array and one registry without annotations.
const tools: readonly Tool[] = [read, raw, paired, approved];
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
// What is expected of a tool does not decide what its input is.
const expected: Tool = defineTool({ name: "expected", description: "", input: { type: "object" }, execute: ({ a }) => a ?? null });
void expected;

describe("the types of tools", () => {
  it("follow from the schema of the input: Zod, JSON Schema, or a pair of both", () => {
    expectTypeOf(read).toEqualTypeOf<Tool<{ path: string; lines: number; when: number }>>();
    expectTypeOf(raw).toEqualTypeOf<Tool<JsonObject>>();
    expectTypeOf(paired).toEqualTypeOf<Tool<{ q: string }>>();
    expectTypeOf(find).toEqualTypeOf<Tool<{ name: string }>>();
    expectTypeOf(add).toEqualTypeOf<Tool<Adding>>();
  });

  it("tell a tool that dispatches from one that runs", () => {
    expectTypeOf(dispatch).toEqualTypeOf<DispatchTool<{ n: number }>>();
    if (isDispatchTool(some)) expectTypeOf(some.dispatch.operator).toEqualTypeOf<string>();
  });
});
