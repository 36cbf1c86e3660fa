import { describe, expectTypeOf, it } from "vitest";
import { createAgent, createRunner, type AgentEvent, type RecordedEvent } from "../index.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

const runner = createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }) });

describe("the types of a run", () => {
  it("are the closed union for what it shows while it works, the open one for what is read from a log", async () => {
    for await (const event of runner.run("go")) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
    for await (const event of runner.run("go").events({ after: 0 })) expectTypeOf(event).toEqualTypeOf<AgentEvent>();
    for await (const event of runner.sessions.events("s")) expectTypeOf(event).toEqualTypeOf<RecordedEvent>();
  });
});
