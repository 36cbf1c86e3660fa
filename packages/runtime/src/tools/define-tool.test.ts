import { ToolError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compareRisk } from "@keelson/protocol";
import { DEFAULT_MAX_OUTPUT_BYTES, defineTool, type ToolDefinition } from "./index.ts";

const minimal = {
  name: "t",
  description: "A tool.",
  input: { type: "object", properties: {} },
  execute: () => "done",
} satisfies ToolDefinition;

describe("a tool definition", () => {
  it("needs a name, a description, an input and a function, and assumes a reversible write [TL-01, LA-14, LA-19]", () => {
    expect(defineTool(minimal)).toMatchObject({
      name: "t",
      description: "A tool.",
      inputSchema: { type: "object", properties: {} },
      effect: "write",
      concurrency: "exclusive",
      risk: "low",
      aliases: [],
      maxOutputBytes: DEFAULT_MAX_OUTPUT_BYTES,
    });
  });

  it("of a read is shared and harmless unless it says otherwise [LA-14, AV-03]", () => {
    expect(defineTool({ ...minimal, effect: "read" })).toMatchObject({ concurrency: "shared", risk: "none" });
    expect(defineTool({ ...minimal, effect: "read", concurrency: "exclusive", risk: "high" })).toMatchObject({
      concurrency: "exclusive",
      risk: "high",
    });
    const risks = (["read", "idempotent", "write"] as const).map((effect) => defineTool({ ...minimal, effect }).risk);
    expect(risks.toSorted(compareRisk)).toStrictEqual(risks);
  });

  it("describes a Zod schema to the model and checks with it [TL-04, TL-09]", async () => {
    const tool = defineTool({
      name: "read_file",
      description: "",
      input: z.object({ path: z.string().describe("Relative to the root"), lines: z.number().default(10) }),
      execute: ({ path, lines }) => `${path}:${lines}`,
    });
    expect(tool.inputSchema).toStrictEqual({
      type: "object",
      properties: { path: { type: "string", description: "Relative to the root" }, lines: { type: "number", default: 10 } },
      required: ["path"],
    });
    expect(await tool.parse({ path: "a" })).toStrictEqual({ value: { path: "a", lines: 10 } });
    expect(await tool.parse({ lines: "x" })).toMatchObject({ issues: [{ path: ["path"] }, { path: ["lines"] }] });
  });

  it("takes a schema that cannot describe itself together with its JSON Schema", async () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => (value === 1 ? { issues: [{ message: "not one", path: [{ key: "a" }] }] } : { value: "parsed" }),
      },
    };
    const tool = defineTool({ ...minimal, input: { schema, jsonSchema: { type: "object", properties: { q: { type: "string" } } } } });
    expect(tool.inputSchema).toStrictEqual({ type: "object", properties: { q: { type: "string" } } });
    expect(await tool.parse({})).toStrictEqual({ value: "parsed" });
    expect(await tool.parse(1)).toStrictEqual({ issues: [{ message: "not one", path: ["a"] }] });
    // @ts-expect-error without its JSON Schema nobody could tell the model what it takes
    expect(() => defineTool({ ...minimal, input: schema })).toThrow(/`input`.*cannot describe itself.*jsonSchema/);
  });

  it("says `type: object` of a union of objects, which vendors want to read at the top", async () => {
    const tool = defineTool({
      ...minimal,
      input: z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), n: z.number() }), z.object({ kind: z.literal("b") })]),
    });
    expect(tool.inputSchema).toMatchObject({ type: "object", oneOf: [{ type: "object" }, { type: "object" }] });
    expect(await tool.parse({ kind: "b" })).toStrictEqual({ value: { kind: "b" } });
    expect(await defineTool({ ...minimal, input: {} }).parse("text")).toHaveProperty("issues");
  });

  it("does not change when its author changes the schema afterwards", () => {
    const input = { type: "object", properties: { a: { type: "string" } } };
    const tool = defineTool({ ...minimal, input });
    input.properties.a.type = "number";
    expect(tool.inputSchema).toStrictEqual({ type: "object", properties: { a: { type: "string" } } });
  });

  it("has a version that follows name, description and schemas, and nothing else", () => {
    const version = (changes: Partial<ToolDefinition>): string => defineTool({ ...minimal, ...changes }).version;
    expect(version({})).toBe(version({ execute: () => "other", risk: "critical", timeoutMs: 5 }));
    const versions = [
      version({}),
      version({ name: "u" }),
      version({ description: "B" }),
      version({ input: { type: "object", properties: { a: {} } } }),
      version({ output: { type: "string" } }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
    expect(version({ version: "7" })).toBe("7");
  });

  it("runs methods on the definition its author wrote, whose class may have members of its own", async () => {
    class Prefixing implements ToolDefinition {
      readonly name = "prefixing";
      readonly description = "Gives a prefix.";
      readonly input = { type: "object" } as const;
      readonly prefix = ">";
      execute(): string {
        return this.prefix;
      }
      permissionText(): string {
        return `text ${this.prefix}`;
      }
      reconcile(): { readonly output: string } {
        return { output: this.prefix };
      }
    }
    const tool = defineTool(new Prefixing());
    expect(tool.execute({}, {} as never)).toBe(">");
    expect(tool.permissionText?.({})).toBe("text >");
    expect(tool.reconcile?.({}, {} as never)).toStrictEqual({ output: ">" });
  });

  it.each([
    ["name", { name: "has space" }],
    ["name", { name: "x".repeat(65) }],
    ["name", { name: "" }],
    ["name", { name: undefined }],
    ["description", { description: undefined }],
    ["effect", { effect: "none" }],
    ["concurrency", { concurrency: "parallel" }],
    ["risk", { risk: "extreme" }],
    ["category", { category: "other" }],
    ["version", { version: "" }],
    ["aliases", { aliases: ["a b"] }],
    ["aliases", { aliases: "cat" }],
    ["maxOutputBytes", { maxOutputBytes: 0 }],
    ["maxOutputBytes", { maxOutputBytes: 1.5 }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: Number.POSITIVE_INFINITY }],
    ["timeoutMs", { timeoutMs: 2 ** 31 }],
    ["input", { input: undefined }],
    ["input", { input: { type: "string" } }],
    ["input", { input: z.string() }],
    ["input", { input: z.object({ when: z.date() }) }],
    ["input", { input: { type: "object", properties: { a: { type: "text" } } } }],
    ["input", { input: { type: "object", properties: { a: { type: "string", pattern: "(" } } } }],
    ["input", { input: { type: "object", properties: { a: { $ref: "#/$defs/missing" } } } }],
    ["output", { output: { type: 1 } }],
    ["execute", { execute: undefined }],
  ])("is refused with an error that names `%s`: %j", (option, changes) => {
    let error: unknown;
    try {
      defineTool({ ...minimal, ...changes } as ToolDefinition);
    } catch (thrown) {
      error = thrown;
    }
    expect(ToolError.is(error, "invalid-definition")).toBe(true);
    expect((error as ToolError).message).toContain(`\`${option}\``);
  });
});
