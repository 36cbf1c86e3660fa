import type { AgentError, SuspendReason, Wait } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createAgent, createRunner, type Run, type RunOutcome } from "../../index.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const output = z.object({ total: z.number() });
const structured = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]), output }) });
const plain = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }) });

describe("the outcome of a run", () => {
  it("has its output exactly when it is complete, of the type that the schema gives [AG-01]", async () => {
    const outcome = await structured.run("go").outcome;
    expectTypeOf(outcome).toEqualTypeOf<RunOutcome<{ total: number }>>();
    expectTypeOf(outcome.output).toEqualTypeOf<{ total: number } | undefined>();
    if (outcome.reason === "complete") expectTypeOf(outcome.output).toEqualTypeOf<{ total: number }>();
    else expectTypeOf(outcome.output).toEqualTypeOf<undefined>();
    expectTypeOf((await plain.run("go").outcome).output).toEqualTypeOf<undefined>();
    expectTypeOf((await plain.resume("s")).outcome)
      .resolves.toHaveProperty("output")
      .toEqualTypeOf<unknown>();
  });

  it("has an error exactly when it failed, waits while it waits, and who halted it when it was halted", async () => {
    const outcome = await plain.run("go").outcome;
    expectTypeOf(outcome.error).toEqualTypeOf<AgentError | undefined>();
    if (outcome.reason === "error") expectTypeOf(outcome.error).toEqualTypeOf<AgentError>();
    else expectTypeOf(outcome.error).toEqualTypeOf<undefined>();
    if (outcome.reason === "awaiting-approval" || outcome.reason === "awaiting-timer")
      expectTypeOf(outcome.waits).toEqualTypeOf<readonly Wait[]>();
    else if (outcome.reason === "halted") expectTypeOf(outcome.halted.by).toEqualTypeOf<string>();
    else if (outcome.reason === "max-turns") expectTypeOf(outcome.waits).toEqualTypeOf<undefined>();
    if (outcome.waits) expectTypeOf(outcome.reason).toEqualTypeOf<SuspendReason>();
    if (outcome.error) expectTypeOf(outcome.reason).toEqualTypeOf<"error">();
  });

  it("can be passed on by whoever does not care for the output", () => {
    expectTypeOf<RunOutcome<{ total: number }>>().toExtend<RunOutcome<unknown>>();
    expectTypeOf<Run<{ total: number }>>().toExtend<Run<unknown>>();
    const outputOf = <Out>(run: Run<Out>): Promise<RunOutcome<Out>> => run.outcome;
    expectTypeOf(outputOf(structured.run("go"))).toEqualTypeOf<Promise<RunOutcome<{ total: number }>>>();
  });
});
