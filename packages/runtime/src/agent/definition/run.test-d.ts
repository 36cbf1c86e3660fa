import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createAgent, createRunner, type Agent, type AgentEvent, type RecordedEvent, type Run, type RunOutcome } from "../../index.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const runner = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }) });

describe("the types of a run", () => {
  it("are the closed union for what it shows while it works, the open one for what is read from a log", async () => {
    for await (const event of runner.run("go")) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
    for await (const event of runner.run("go").events({ after: 0 })) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
    for await (const event of runner.sessions.events("s")) expectTypeOf(event).toEqualTypeOf<RecordedEvent>();
  });

  it("let any run, agent or outcome be passed where one of no particular output is asked for", () => {
    const counting = createAgent({ name: "a", model: scriptedModel([]), output: z.object({ total: z.number() }) });
    const run = createRunner({ agent: counting }).run("go");
    const watchers: readonly Run[] = [run, runner.run("go")];
    const agents: readonly Agent[] = [counting, createAgent({ name: "b", model: scriptedModel([]) })];
    expectTypeOf(run.outcome).resolves.toExtend<RunOutcome>();
    expectTypeOf(watchers[0]?.outcome).toEqualTypeOf<Promise<RunOutcome<unknown>> | undefined>();
    for (const agent of agents) createRunner({ agent });
  });
});
