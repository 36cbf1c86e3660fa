import { describe, expect, it } from "vitest";
import { AgentError } from "../errors/agent-error.ts";
import { checkOptionNames, meantOption } from "./check-option-names.ts";
import { BOUND_OPTION, FLAG_OPTION, FUNCTION_OPTION, POSITIVE_OPTION } from "./option-rules.ts";

function messageFor(options: unknown, names: Readonly<Record<string, true>> = { timeoutMs: true, guard: true }): string {
  try {
    checkOptionNames("f", options as object, names);
  } catch (error) {
    if (AgentError.is(error, "invalid-option")) return error.message;
    throw error;
  }
  return "";
}

describe("the check of option names", () => {
  it.each<[string, unknown]>([
    ["no option", {}],
    ["a known option", { guard: true }],
    ["an unknown option that is undefined", { zzz: undefined }],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { guard: true })],
    [
      "an object of a class",
      new (class Settings {
        readonly guard = true;
      })(),
    ],
  ])("takes %s", (_what, options) => {
    expect(messageFor(options)).toBe("");
  });

  it.each<[string, unknown, string]>([
    ["a misspelt name", { gaurd: true }, 'f has no option "gaurd": did you mean "guard"?'],
    ["a name in another case", { Guard: true }, 'did you mean "guard"?'],
    ["a name with a separator", { timeout_ms: 1 }, 'did you mean "timeoutMs"?'],
    ["the name of another library", { timeout: 1 }, 'did you mean "timeoutMs"?'],
    ["a name that is like none", { zzz: 1 }, "there are timeoutMs, guard"],
    ["the name of a member of all objects", { toString: 1 }, 'f has no option "toString"'],
    ["an own member named __proto__", JSON.parse('{ "__proto__": 1 }'), 'f has no option "__proto__"'],
  ])("refuses %s", (_what, options, message) => {
    expect(messageFor(options)).toContain(message);
  });

  it.each<[string, unknown, string]>([
    ["a text", "fast", 'f takes an object of options, not "fast".'],
    ["null", null, "not null"],
    ["a list", [], "not a list"],
    ["a function", () => undefined, "not a function"],
    ["a promise", Promise.resolve({}), "not a promise: await it first"],
    ["a signal", new AbortController().signal, "not an AbortSignal: write it as { signal }"],
    ["a map", new Map(), "not an object of type Map"],
  ])("refuses %s in the place of options", (_what, options, message) => {
    expect(messageFor(options)).toContain(message);
  });
});

describe("the hint for an option of another library", () => {
  const tool = ["name", "description", "input", "output", "execute", "risk", "effect"];
  const agent = [
    "name",
    "model",
    "instructions",
    "systemPrompt",
    "limits",
    "tools",
    "allowedTools",
    "subAgents",
    "settings",
    "permissions",
  ];
  it.each<[string, readonly string[], string]>([
    ["parameters", tool, "input"],
    ["inputSchema", tool, "input"],
    ["input_schema", tool, "input"],
    ["args_schema", tool, "input"],
    ["outputSchema", tool, "output"],
    ["func", tool, "execute"],
    ["handler", tool, "execute"],
    ["system", agent, "instructions"],
    ["prompt", agent, "instructions"],
    ["maxSteps", agent, "limits.maxTurns"],
    ["stopWhen", agent, "limits.maxTurns"],
    ["recursionLimit", agent, "limits.maxTurns"],
    ["maxRetries", agent, "limits.maxRetries"],
    ["handoffs", agent, "subAgents"],
    ["permissionMode", agent, "permissions.mode"],
    ["timeout", agent, "limits.maxDurationMs"],
    ["timeout", ["timeoutMs"], "timeoutMs"],
    ["abortSignal", ["signal"], "signal"],
    ["threadId", ["session"], "session"],
    ["inputPerMTok", ["input", "output", "cacheRead"], "input"],
    ["mcpServers", ["agent", "mcp"], "mcp"],
    ["ignoreCase", ["caseInsensitive"], "caseInsensitive"],
  ])("for %s of %j is %s", (name, names, meant) => {
    expect(meantOption(name, names)).toBe(meant);
  });

  it("names no option that the function lacks", () => {
    expect(meantOption("parameters", ["path"])).toBeUndefined();
    expect(meantOption("constructor", ["path"])).toBeUndefined();
  });
});

describe("the rule of an option", () => {
  const names = { guard: FLAG_OPTION, maxBytes: BOUND_OPTION, everyMs: POSITIVE_OPTION, now: FUNCTION_OPTION };
  it.each<[string, unknown]>([
    ["a flag", { guard: false }],
    ["no bound", { maxBytes: Infinity }],
    ["an option that is undefined", { guard: undefined, maxBytes: undefined }],
  ])("takes %s", (_what, options) => {
    expect(() => checkOptionNames("f", options as object, names)).not.toThrow();
  });

  it.each<[unknown, string]>([
    [{ guard: "false" }, 'The option "guard" of f must be true or false, not "false".'],
    [{ guard: null }, "must be true or false, not null"],
    [{ maxBytes: NaN }, "must be a number from 0, not NaN"],
    [{ maxBytes: -1 }, "must be a number from 0, not -1"],
    [{ maxBytes: "10" }, 'must be a number from 0, not "10"'],
    [{ everyMs: 0 }, "must be a number above 0, not 0"],
    [{ now: 5 }, "must be a function, not 5"],
  ])("refuses %j", (options, message) => {
    expect(() => checkOptionNames("f", options as object, names)).toThrow(message);
  });
});
