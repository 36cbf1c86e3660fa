import { textMessage, type JsonValue, type Message } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { Context } from "./context.ts";
import { injectReminder, rulesFrom, type RuleMethods } from "./rule-methods.ts";

const steering = textMessage("user", "go left");
const OPERATIONS: readonly (readonly [string, JsonValue | undefined, JsonValue | undefined])[] = [
  ["inject-steering", { messages: [steering] } as unknown as JsonValue, undefined],
  ["steering-skip", { calls: [{ callId: "c_1", name: "deploy" }] }, undefined],
  ["infer", { model: "m" }, { content: [], stopReason: "end-turn" }],
  ["execute-tool", { name: "read", input: { path: "a" } }, { output: "text", isError: false }],
  ["compact", { messages: 3 }, undefined],
  ["exit-check", undefined, undefined],
];

async function runAll(context: Context): Promise<void> {
  for (const [type, input, output] of OPERATIONS)
    await context.run({ type, ...(input !== undefined && { input }), execute: () => output, show: () => output ?? null });
}

describe("the method form of a rule", () => {
  it("fires each method at its moment, with what it is about [CE-17, CE-09]", async () => {
    const told: unknown[] = [];
    const methods: Required<Omit<RuleMethods, "priority">> = {
      name: "all",
      beforeInference: (view) => void told.push(["beforeInference", view.cost]),
      afterInference: (response) => void told.push(["afterInference", response]),
      beforeToolCall: (tool, input) => void told.push(["beforeToolCall", tool, input]),
      afterToolCall: (tool, result) => void told.push(["afterToolCall", tool, result]),
      whenExitCheck: (view) => void told.push(["whenExitCheck", view.turnsCompleted]),
      beforeSteeringInject: (messages: readonly Message[]) => void told.push(["beforeSteeringInject", messages]),
      whenSteeringSkip: (skipped) => void told.push(["whenSteeringSkip", skipped]),
      beforeCompaction: () => void told.push(["beforeCompaction"]),
      afterCompaction: () => void told.push(["afterCompaction"]),
    };
    await runAll(new Context({ rules: rulesFrom(methods) }));
    expect(told).toEqual([
      ["beforeSteeringInject", [steering]],
      ["whenSteeringSkip", [{ callId: "c_1", name: "deploy" }]],
      ["beforeInference", "0"],
      ["afterInference", { content: [], stopReason: "end-turn" }],
      ["beforeToolCall", "read", { path: "a" }],
      ["afterToolCall", "read", { output: "text", isError: false }],
      ["beforeCompaction"],
      ["afterCompaction"],
      ["whenExitCheck", 0],
    ]);
  });

  it("is no rule at all for methods it leaves out [CE-17]", () => {
    expect(rulesFrom({ name: "none" })).toEqual([]);
    expect(rulesFrom({ name: "one", priority: 7, whenExitCheck: () => {} })).toMatchObject([
      { priority: 7, trigger: { type: "before", operation: "exit-check" } },
    ]);
  });

  it("changes the input of a tool without touching its name [CE-19, CE-20]", async () => {
    const context = new Context({
      rules: rulesFrom({
        name: "strip-secret",
        beforeToolCall(_tool, input) {
          const { api_key: _secret, ...rest } = input as { readonly api_key?: string };
          return { type: "modify-input", input: rest };
        },
      }),
    });
    const executed = await context.run<JsonValue>({
      type: "execute-tool",
      input: { name: "fetch", input: { url: "u", api_key: "s" } },
      execute: (_context, input) => input ?? null,
    });
    expect(executed).toEqual({ name: "fetch", input: { url: "u" } });
  });

  it.each([
    "beforeInference",
    "afterInference",
    "beforeToolCall",
    "afterToolCall",
    "whenExitCheck",
    "beforeSteeringInject",
    "beforeCompaction",
  ] as const)("may halt at %s [CE-18]", async (method) => {
    const context = new Context({ rules: rulesFrom({ name: "halting", [method]: () => ({ type: "halt", reason: method }) }) });
    await expect(runAll(context)).rejects.toThrow(method);
  });
});

describe("injectReminder", () => {
  it("adds a system message after each response, at priority 50 [CE-15]", async () => {
    const rule = injectReminder("Stay on topic.");
    expect(rule).toMatchObject({ priority: 50, trigger: { type: "after", operation: "append-response" } });
    const context = new Context({ rules: [rule] });
    for (const response of ["one", "two"])
      await context.run({
        type: "append-response",
        execute: ({ conversation }) => conversation.append(textMessage("assistant", response)),
      });
    expect(context.messages.map(({ role }) => role)).toEqual(["assistant", "system", "assistant", "system"]);
  });
});
