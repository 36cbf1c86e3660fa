import type { JsonValue, Tool } from "@keelson/protocol";
import { createAgent, defineTool } from "keelson";
import { ruleAfter } from "keelson/context";
import { scriptedModel } from "keelson/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonValue } from "../../src/json/index.ts";
import { ofType, runnerOf, sharedServices, watch } from "./support.ts";

const effects = ["read", "idempotent", "write"] as const;
const anything = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withBoxedValues: true,
  }),
  fc.record({ id: fc.bigInt(), at: fc.date({ noInvalidDate: false }), all: fc.array(fc.oneof(fc.bigInt(), fc.date())) }),
  fc.constantFrom<unknown>(
    (() => {
      const cycle: { self?: unknown } = {};
      return Object.assign(cycle, { self: cycle });
    })(),
    { toJSON: () => JSON.parse("{") as unknown },
    {
      get at(): never {
        throw new Error("gone");
      },
    },
    { run: () => 1, later: Promise.resolve(1), symbol: Symbol("s") },
  ),
);

/** Calls a tool that returns these values, one call a response, and then ends. */
function world(effect: (typeof effects)[number], values: readonly unknown[], rules: object = {}) {
  const calls: number[] = [];
  const services = sharedServices();
  const tool = defineTool({
    name: "look",
    description: "",
    effect,
    input: { type: "object", properties: { n: { type: "integer" } } },
    execute: ({ n }) => {
      calls.push(n as number);
      return values[n as number] as JsonValue;
    },
  }) as Tool;
  const model = scriptedModel([...values.map((_, n) => ({ toolCalls: [{ name: "look", input: { n } }] })), "done"]);
  const agent = createAgent({ name: "a", model, tools: [tool], ...rules });
  return { calls, services, model, agent, runner: runnerOf(agent, services) };
}

describe("a tool's result of any kind", () => {
  it("is committed, shown to the model and logged as JSON, and its tool runs once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...effects), fc.array(anything, { minLength: 1, maxLength: 3 }), async (effect, values) => {
        const { calls, runner, model } = world(effect, values);
        const run = runner.run("go");
        const { outcome, events } = await watch(run);
        expect(outcome).toMatchObject({ reason: "complete", text: "done" });
        expect(calls).toEqual(values.map((_, n) => n));
        const results = ofType(events, "tool-result");
        expect(results.map(({ isError }) => isError)).toEqual(values.map(() => false));
        for (const [index, value] of values.entries())
          if (value !== undefined && typeof value !== "string" && !isParts(value))
            expect(JSON.stringify(results[index]?.output)).toBe(JSON.stringify(jsonValue(value)));
        expect(model.requests).toHaveLength(values.length + 1);
        // Another process reads the same from the log, and does nothing again.
        const logged = [];
        for await (const event of runner.sessions.events(run.session)) if (event.type === "tool-result") logged.push(event.output);
        expect(JSON.stringify(logged)).toBe(JSON.stringify(results.map(({ output }) => output)));
      }),
      { numRuns: 60 },
    );
  });

  it("may be put in place of another by a rule, and the call is still not made again", async () => {
    const output = { id: 1917043659912705296n, at: new Date(0), on: new Map([["a", 1]]) } as unknown as JsonValue;
    const { calls, runner } = world("write", ["x"], {
      rules: [ruleAfter("execute-tool", "r", 0, () => ({ type: "modify-output", output }))],
    });
    const { outcome, events } = await watch(runner.run("go"));
    expect(outcome.reason).toBe("complete");
    expect(calls).toEqual([0]);
    expect(ofType(events, "tool-result")).toMatchObject([
      { isError: false, output: { id: "1917043659912705296", at: "1970-01-01T00:00:00.000Z", on: { a: 1 } } },
    ]);
  });
});

function isParts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.getOwnPropertyDescriptor(value, "type")?.value === "content";
}
