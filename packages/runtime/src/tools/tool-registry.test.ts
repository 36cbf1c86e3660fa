import { type Tool, ToolError } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aliasTool, createToolCall, createToolRegistry, defineTool } from "./index.ts";

const tool = (name: string, fields: { readonly aliases?: readonly string[]; readonly description?: string } = {}): Tool =>
  defineTool({ name, description: "", input: {}, execute: (input) => ({ name, input }), ...fields });

describe("the tool registry", () => {
  it("gets by exact name, and the same name overwrites [TL-02, TL-04]", () => {
    const registry = createToolRegistry([tool("a"), tool("b")]);
    const second = tool("a", { description: "second" });
    registry.register(second);
    expect(registry.get("a")).toBe(second);
    expect(registry.size).toBe(2);
    expect(registry.get("A")).toBeUndefined();
  });

  it("iterates and describes itself in one order, whatever the order of registration [TL-02]", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9_-]{1,8}$/)), (names) => {
        const forward = createToolRegistry(names.map((name) => tool(name)));
        const backward = createToolRegistry(names.toReversed().map((name) => tool(name)));
        expect([...forward].map(({ name }) => name)).toStrictEqual(names.toSorted());
        expect(forward.schemas()).toStrictEqual(backward.schemas());
      }),
    );
  });

  it("tells the model name, description and schema, as the same list until something changes [TL-04]", () => {
    const registry = createToolRegistry([tool("a", { description: "Does a." })]);
    const schemas = registry.schemas();
    expect(schemas).toStrictEqual([{ name: "a", description: "Does a.", inputSchema: { type: "object", properties: {} } }]);
    expect(registry.schemas()).toBe(schemas);
    registry.register(tool("b"));
    expect(registry.schemas()).toHaveLength(2);
    expect(schemas).toHaveLength(1);
  });

  it("gives a run a snapshot that later registrations do not reach", () => {
    const registry = createToolRegistry([tool("a")]);
    const snapshot = registry.snapshot();
    registry.register(tool("b"));
    registry.register(tool("a", { description: "new" }));
    expect([...snapshot].map(({ name, description }) => [name, description])).toStrictEqual([["a", ""]]);
    expect(snapshot.find("b").ok).toBe(false);
    expect(registry.find("b").ok).toBe(true);
  });

  it("finds by name, by alias, and by either in another case", () => {
    const registry = createToolRegistry([tool("read_file", { aliases: ["cat"] }), tool("cat_all"), tool("X"), tool("x")]);
    const found = (name: string): string | undefined => {
      const result = registry.find(name);
      return result.ok ? result.tool.name : undefined;
    };
    expect(found("read_file")).toBe("read_file");
    expect(found("cat")).toBe("read_file");
    expect(found("Cat")).toBe("read_file");
    expect(found("READ_FILE")).toBe("read_file");
    expect(found("X")).toBe("X");
    expect(found("x")).toBe("x");
    expect(found("cat_all")).toBe("cat_all");
  });

  it("does not guess when another case could mean two tools", () => {
    const registry = createToolRegistry([tool("Run"), tool("run")]);
    expect(registry.find("RUN").ok).toBe(false);
  });

  it("prefers a name to an alias that reads the same", () => {
    const registry = createToolRegistry([tool("search"), tool("grep", { aliases: ["search"] })]);
    expect(registry.find("search")).toMatchObject({ tool: { name: "search" } });
  });

  it("says of an unknown tool what there is and what was probably meant [TL-05]", () => {
    const registry = createToolRegistry([tool("write_file"), tool("read_file", { aliases: ["show"] }), tool("bash")]);
    expect(registry.find("readFile")).toStrictEqual({
      ok: false,
      suggestion: "read_file",
      failure: {
        kind: "not-found",
        tool: "readFile",
        available: ["bash", "read_file", "write_file"],
        message: 'There is no tool "readFile". Did you mean "read_file"? Available tools: bash, read_file, write_file.',
      },
    });
    expect(registry.find("shw")).toMatchObject({ suggestion: "read_file" });
    expect(registry.find("teleport")).not.toHaveProperty("suggestion");
    expect(createToolRegistry().find("x")).toMatchObject({ failure: { message: 'There is no tool "x". Available tools: none.' } });
  });

  it("stays short when a model asks for a name of any length", () => {
    const result = createToolRegistry([tool("a")]).find("x".repeat(1_000_000));
    expect(result.ok ? "" : result.failure.message.length).toBeLessThan(300);
  });

  it("refuses an alias that two tools claim", () => {
    const registry = createToolRegistry([tool("a", { aliases: ["z"] })]);
    expect(() => registry.register(tool("b", { aliases: ["z"] }))).toThrow(ToolError);
    registry.register(tool("a", { aliases: ["z"] }));
    expect(registry.size).toBe(1);
  });
});

describe("an aliased tool", () => {
  it("delegates description, schema and calls to the inner tool, on the instance that it is [TL-03]", async () => {
    class Counter {
      calls = 0;
      permissionText(): string {
        return `call ${this.calls}`;
      }
      reconcile(): { output: number } {
        return { output: this.calls };
      }
      parse(): { value: object } {
        return { value: this };
      }
      execute(): number {
        return ++this.calls;
      }
    }
    const counter = Object.assign(new Counter(), { ...tool("count", { description: "Counts." }) });
    for (const method of ["parse", "execute"] as const) delete (counter as Partial<Counter>)[method];
    const alias = aliasTool("tally", counter);
    expect(alias).toMatchObject({ name: "tally", description: "Counts.", inputSchema: counter.inputSchema, version: counter.version });
    expect(await alias.parse({})).toStrictEqual({ value: counter });
    expect(await alias.execute({}, createToolCall())).toBe(1);
    expect(alias.permissionText?.({})).toBe("call 1");
    expect(await alias.reconcile?.({}, createToolCall())).toStrictEqual({ output: 1 });
  });

  it("can stand beside the inner tool in a registry", () => {
    const inner = tool("a", { aliases: ["z"] });
    const registry = createToolRegistry([inner, aliasTool("b", inner)]);
    expect(registry.find("z")).toMatchObject({ tool: { name: "a" } });
    expect(registry.get("b")).toMatchObject({ name: "b" });
  });

  it("needs a name that vendors take", () => {
    expect(() => aliasTool("no spaces", tool("a"))).toThrow(/`name`/);
  });
});
