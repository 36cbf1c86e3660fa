import { AgentError } from "@keelson/protocol";
import { createProcessExecutor } from "keelson/environment";
import { createMcpServer } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { entriesOf, publishedPackages } from "../../../../tools/package-entries.ts";
import { type EntryPoint, readEntryPoints } from "./entry-points.ts";
import { IMPLEMENTED_BY_USERS, NO_OPTIONS, UNCHECKED } from "./exceptions.ts";
import { RECEIVERS } from "./receivers.ts";

type Call = (...values: readonly unknown[]) => unknown;

const values = new Map<string, unknown>();
for (const { specifier } of publishedPackages().flatMap(entriesOf))
  if (specifier !== undefined && !specifier.endsWith("/contracts"))
    for (const [name, value] of Object.entries((await import(specifier)) as object)) values.set(name, value);

const entryPoints = readEntryPoints(IMPLEMENTED_BY_USERS);
const demanded = entryPoints.filter(({ place, at, type }) => !(type in NO_OPTIONS) && !(`${place} ${at}` in UNCHECKED));

/** Each way to call the entry point, as a program without types does. */
async function callsOf({ place }: EntryPoint): Promise<readonly (readonly [label: string, call: Call])[]> {
  if (place.startsWith("new ")) {
    const Class = values.get(place.slice("new ".length)) as new (...given: readonly unknown[]) => unknown;
    return [["", (...given) => new Class(...given)]];
  }
  const value = values.get(place);
  if (typeof value === "function") return [["", value as Call]];
  const dot = place.lastIndexOf(".");
  const owner = values.get(place.slice(0, dot)) as object | undefined;
  // The static methods of a class stand beside those of its objects.
  const isStatic = owner !== undefined && Object.hasOwn(owner, place.slice(dot + 1));
  const receivers = isStatic ? [owner] : await RECEIVERS[place.slice(0, dot)]?.();
  if (receivers === undefined)
    throw new Error(`There is no object for ${place}: add one to receivers.ts, or tell in exceptions.ts why not.`);
  return receivers.flatMap((receiver, index) => {
    const method = (receiver as { readonly [name: string]: unknown })[place.slice(dot + 1)];
    return typeof method === "function"
      ? [[` of object ${index}`, (...given: readonly unknown[]) => Reflect.apply(method, receiver, given)]]
      : [];
  }) as [string, Call][];
}

async function failureOf(call: Call, given: readonly unknown[]): Promise<unknown> {
  try {
    const returned: unknown = await call(...given);
    if (typeof returned === "object" && returned !== null && Symbol.asyncIterator in returned)
      await (returned as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    return "nothing";
  } catch (error) {
    return error;
  }
}

/** Other arguments of functions that look at them before their options; those of all others are missing in the calls below. */
const ARGUMENTS: { readonly [place: string]: readonly unknown[] } = {
  "createSandboxExecutor": [{}],
  "serveMcpHttp": [createMcpServer({ name: "s", version: "1" })],
  "encodeWrite": [{ type: "global" }, "key", 1],
  "startJob": [{}, createProcessExecutor({ cwd: "." })],
  "BudgetLedger.reserve": ["key", [], "1"],
  "SqliteBudgetLedger.reserve": ["key", [], "1"],
  "createBudgetLedger().reserve": ["key", [], "1"],
  "mockTool": ["t", []],
  "narrowAuthority": [{ policies: [], depth: 1 }],
  "HookRegistry.onPreToolUse": ["*", () => undefined],
  "xrayRequest": [{ model: "m", messages: [] }],
  "worstCase": [1, 1],
  "isOverThreshold": [{}, { messages: 1, tokens: 1, contextUtilization: null }],
  "costOf": [{ inputTokens: 1, outputTokens: 1 }, null],
};

describe("an unknown option", () => {
  it.each(demanded.map((entry) => [`${entry.place}, argument ${entry.at + 1} (${entry.type.slice(0, 60)})`, entry] as const))(
    "is refused by %s",
    async (_title, entry) => {
      const calls = await callsOf(entry);
      expect(calls.length).toBeGreaterThan(0);
      for (const [label, call] of calls) {
        const given = [...(ARGUMENTS[entry.place] ?? [])];
        given.length = Math.max(given.length, entry.at + 1);
        given[entry.at] = { zzz: 1 };
        const failure = await failureOf(call, given);
        if (!AgentError.is(failure, "invalid-option")) throw new Error(`${entry.place}${label} did not refuse it`, { cause: failure });
        expect(failure.failure.option).toBe("zzz");
        expect(failure.message).toContain('no option "zzz"');
      }
    },
  );

  it("is looked for at more than three hundred and fifty entry points, and no exception stands for one that is not there", () => {
    expect(demanded.length).toBeGreaterThan(350);
    const types = new Set(entryPoints.map(({ type }) => type));
    const places = new Set(entryPoints.map(({ place, at }) => `${place} ${at}`));
    expect(
      Object.keys(NO_OPTIONS)
        .filter((type) => !types.has(type))
        .join(),
    ).toBe("");
    expect(Object.keys(UNCHECKED).filter((entry) => !places.has(entry))).toEqual([]);
  });
});
