import { inspect } from "node:util";
import { createAgent, createRunner } from "keelson";
import { rulesFrom } from "keelson/context";
import { scriptedModel } from "keelson/testing";
import { AgentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

const agent = createAgent({ name: "a", model: scriptedModel(["done", "done"]) });

/** The error of what is called wrongly, whether it throws or rejects. */
async function refusal(misuse: () => unknown): Promise<AgentError> {
  try {
    await misuse();
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error("it was taken as it is");
}

/** As somebody writes it who has no types. */
const untyped = (value: unknown): never => value as never;

describe("misuse is refused with the option that is wrong, and what to write instead", () => {
  it.each<[string, unknown, string, RegExp]>([
    ["nothing", undefined, "options", /takes an object of options, not undefined/],
    ["an unknown option", { agent, logs: {} }, "logs", /has no option "logs": did you mean "log"\?/],
    ["an option that runs have", { agent, maxTurns: 5 }, "maxTurns", /has no option "maxTurns"/],
    ["a path for a log", { agent, log: "sessions.db" }, "log", /must be an object with append.*not "sessions.db"/],
    ["a decision for a callback", { agent, approvals: { type: "allow" } }, "approvals", /must be a function/],
    ["a model for the registry", { agent, models: "anthropic/m" }, "models", /must be an object with resolve/],
    ["options for an agent", { agent: { name: "a", model: "m" } }, "agent", /must be an object with with, asTool/],
    ["a text for a duration", { agent, approvalWaitMs: "5m" }, "approvalWaitMs", /milliseconds/],
    ["another word", { agent, durability: "none" }, "durability", /"power" or "process"/],
  ])("by createRunner: %s", async (_what, options, option, message) => {
    const { failure } = await refusal(() => createRunner(untyped(options)));
    expect(failure).toMatchObject({ kind: "invalid-option", option, message: expect.stringMatching(message) });
  });

  it.each<[string, unknown, unknown, string, RegExp]>([
    ["nothing", undefined, {}, "input", /must be a text or a list of parts, not undefined/],
    ["a message", [{ role: "user", content: "hi" }], {}, "input[0]", /is a message.*run\(text, \{ session \}\)/],
    ["an object", { input: "hi" }, {}, "input", /must be a text or a list of parts/],
    ["a text among parts", ["hi"], {}, "input[0]", /must be a part with a type, not "hi"/],
    ["an unknown option", "hi", { sesion: "s" }, "sesion", /did you mean "session"\?/],
    ["an unknown limit", "hi", { limits: { maxTurn: 1 } }, "limits.maxTurn", /is no option there/],
    ["a limit that is none", "hi", { limits: { maxTurns: 0 } }, "limits.maxTurns", /at least 1/],
    ["no signal", "hi", { signal: new AbortController() }, "signal", /addEventListener/],
    ["a date for a deadline", "hi", { deadline: new Date(0) }, "deadline", /Unix milliseconds/],
    ["an agent that is not there", "hi", { agent: "b" }, "agent", /has the agent "a" alone/],
  ])("by run: %s", async (_what, input, options, option, message) => {
    const { failure } = await refusal(() => createRunner({ agent }).run(untyped(input), untyped(options)));
    expect(failure).toMatchObject({ kind: "invalid-option", option, message: expect.stringMatching(message) });
  });

  it("by approve: no token, no decision, and a decision that lacks what it needs", async () => {
    const tool = recordingTool("wipe", { effect: "write", risk: "high" });
    const asking = createAgent({ name: "a", model: scriptedModel([{ toolCalls: [{ name: "wipe" }] }, "done"]), tools: [tool] });
    const runner = runnerOf(asking, sharedServices());
    await runner.run("go", { session: "s" }).outcome;
    const [question] = await runner.approvals.list();
    const token = question?.token ?? "";
    expect((await refusal(() => runner.approve(untyped(undefined), { type: "allow" }))).failure).toMatchObject({ reason: "malformed" });
    for (const [decision, message] of [
      [undefined, /must be one of allow, deny.*not undefined/],
      ["allow", /as in \{ type: "allow" \}, not "allow"/],
      [{ type: "allowed" }, /must be one of/],
      [{ type: "allow-modified" }, /input/],
      [{ type: "deny", reason: 5 }, /reason/],
    ] as const) {
      const { failure } = await refusal(() => runner.approve(token, untyped(decision)));
      expect(failure).toMatchObject({ kind: "invalid-option", option: "decision", message: expect.stringMatching(message) });
    }
    expect(await runner.approvals.list()).toHaveLength(1);
    const run = await runner.resume("s");
    for await (const pending of run.approvals()) {
      expect((await refusal(() => pending.decide(untyped(undefined)))).failure).toMatchObject({ option: "decision" });
      await run.stop();
    }
    await run.outcome;
  });

  it("by the other methods: sessions that are no text, messages and models that are none", async () => {
    const runner = createRunner({ agent });
    expect((await refusal(() => runner.resume(untyped(undefined)))).message).toContain("can't be a session id");
    const run = runner.run("hi");
    expect((await refusal(() => run.steer(untyped(undefined)))).failure).toMatchObject({ kind: "invalid-option", option: "message" });
    expect((await refusal(() => run.setModel(untyped(undefined)))).failure).toMatchObject({ kind: "invalid-option", option: "model" });
    await run.outcome;
  });

  it("by rulesFrom: methods that there are not, and what is no method", async () => {
    const unknown = await refusal(() => rulesFrom(untyped({ name: "r", beforeToolcall: () => {} })));
    expect(unknown.failure).toMatchObject({ kind: "invalid-option", option: "beforeToolcall" });
    expect(unknown.message).toContain('did you mean "beforeToolCall"?');
    expect((await refusal(() => rulesFrom(untyped(undefined)))).failure).toMatchObject({ option: "options" });
    expect((await refusal(() => rulesFrom(untyped({ beforeInference: () => {} })))).failure).toMatchObject({ option: "name" });
    expect((await refusal(() => rulesFrom(untyped({ name: "r", whenExitCheck: true })))).failure).toMatchObject({
      option: "whenExitCheck",
    });
  });
});

describe("a run that is awaited in the place of its outcome", () => {
  it("is the run, and says where its outcome is when it is asked for it", async () => {
    const run = createRunner({ agent: agent.with({ model: scriptedModel(["done"]) }) }).run("hi");
    const awaited = (await run) as unknown as { readonly [name: string]: unknown };
    expect(awaited).toBe(run);
    for (const name of ["text", "reason", "output", "turns", "usage", "cost"])
      expect((await refusal(() => awaited[name])).message).toContain(`const { ${name} } = await run.outcome`);
    expect(await run.outcome).toMatchObject({ text: "done" });
  });

  it("shows what it is and not what it is made of, printed or as JSON", async () => {
    const run = createRunner({ agent: agent.with({ model: scriptedModel(["done"]) }) }).run("hi", { session: "s" });
    expect(inspect(run)).toBe(
      `Run ${run.id} in session s (await run.outcome tells how it ends; for await (const event of run) shows what it does)`,
    );
    expect(JSON.parse(JSON.stringify({ run }))).toEqual({ run: { id: run.id, session: "s" } });
    await run.outcome;
  });
});
