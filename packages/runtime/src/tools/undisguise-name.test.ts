import { defineTool } from "keelson/tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitName } from "../providers/fitting/fit-name.ts";
import { OPENAI_RULES } from "../providers/fitting/rules/openai.ts";
import { createToolRegistry } from "./tool-registry.ts";
import { undisguiseName } from "./undisguise-name.ts";

const tools = ["look", "read_file", "mcp__notes__add"];
const isTool = (name: string): boolean => tools.includes(name);

describe("a name in disguise", () => {
  it.each([
    ["functions.look", "look"],
    ["functions.read_file", "read_file"],
    ["default_api.look", "look"],
    ["default_api:look", "look"],
    ["default_api::look", "look"],
    ["tools/look", "look"],
    ["look<|channel|>commentary", "look"],
    ["functions.look<|channel|>json", "look"],
    ["look<|constrain|>json", "look"],
    [" look", "look"],
    ["look\n", "look"],
    ['"look"', "look"],
    ["`functions.look`", "look"],
    ["look()", "look"],
    ["functions.functions.look", "look"],
    ["functions.mcp__notes__add", "mcp__notes__add"],
  ])("means the tool: %j is %s", (name, tool) => {
    expect(undisguiseName(name, isTool)).toBe(tool);
  });

  it.each([
    "other.look",
    "functions.none",
    "lookup",
    "mylook",
    "look.functions",
    "multi_tool_use.parallel",
    "",
    ".",
    "functions.",
    "<|look|>",
    "cat look",
  ])("means no tool if it is none of the known disguises: %j", (name) => {
    expect(undisguiseName(name, isTool)).toBeUndefined();
  });

  it("is itself if a tool has that very name", () => {
    expect(undisguiseName("functions.look", (name) => name === "functions.look" || name === "look")).toBe("functions.look");
  });

  it("means no tool if it could mean two", () => {
    // Without its markup it is one tool, without its wrapping another.
    const known = ["<look", "look</x"];
    expect(undisguiseName("<look</x>", (name) => known.includes(name))).toBeUndefined();
  });

  it("never turns into a tool whose name it does not hold", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."look.:/<|>functions defaul_api\"' ") }), (name) => {
        const found = undisguiseName(name, isTool);
        expect(found === undefined || name.includes(found)).toBe(true);
      }),
    );
  });
});

describe("a registry", () => {
  const tool = (name: string) => defineTool({ name, description: "d", effect: "read", input: { type: "object" }, execute: () => "x" });
  const registry = createToolRegistry(tools.map(tool));

  it("finds the tool of a name in disguise, and of the form in which the name was sent", () => {
    for (const name of ["functions.look", fitName("functions.look", OPENAI_RULES.names), fitName("$look", OPENAI_RULES.names)])
      expect(registry.find(name)).toMatchObject({ ok: true, tool: { name: "look" } });
  });

  it("answers a call of parallel calls clearly: each is to be made by itself", () => {
    const found = registry.find("multi_tool_use.parallel");
    expect(found).toMatchObject({ ok: false, failure: { kind: "not-found" } });
    expect(!found.ok && found.failure.message).toMatch(/calls go beside each other in one response/);
  });

  it("prefers a tool of the literal name", () => {
    const both = createToolRegistry([tool("look"), { ...tool("look"), name: "functions.look" }]);
    expect(both.find("functions.look")).toMatchObject({ ok: true, tool: { name: "functions.look" } });
  });
});
