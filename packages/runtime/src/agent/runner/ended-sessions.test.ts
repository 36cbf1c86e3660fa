import { describe, expect, it } from "vitest";
import { createMemoryEventLog } from "../../state/memory/memory-event-log.ts";
import { agentTool, createAgent, createRunner } from "../../index.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const responses = (count: number) => scriptedModel(Array.from({ length: count }, () => "ok"));

describe("a runner without a log of its own", () => {
  it("keeps the newest hundred or so of the sessions that nobody named, and all that have a name", async () => {
    const runner = createRunner({ agent: createAgent({ name: "a", model: responses(400) }) });
    await runner.run("first", { session: "named" }).outcome;
    for (let run = 0; run < 350; run++) await runner.run("go").outcome;
    const sessions = await runner.sessions.list();
    expect(sessions.length).toBeGreaterThanOrEqual(101);
    expect(sessions.length).toBeLessThanOrEqual(201);
    expect(sessions.map(({ id }) => id)).toContain("named");
  });

  it("keeps what somebody speaks of, and forgets children with their parents", async () => {
    const child = createAgent({ name: "child", model: responses(10) });
    const ask = { toolCalls: [{ name: "child", input: { task: "help" } }] };
    const model = scriptedModel([ask, "done", ...Array.from({ length: 20 }, () => "ok")]);
    const log = createMemoryEventLog();
    const runner = createRunner({ agent: createAgent({ name: "a", model, tools: [agentTool(child)] }), log, keepEndedSessions: 2 });
    const first = runner.run("go");
    await first.outcome;
    const tagged = runner.run("go");
    await tagged.outcome;
    await runner.sessions.tag(tagged.session, "mine");
    for (let run = 0; run < 8; run++) await runner.run("go").outcome;
    const logs = (await log.list()).map((info) => info.log as string);
    expect(logs.filter((name) => name.includes(first.session))).toEqual([]);
    expect((await runner.sessions.get(tagged.session)).metadata.tags).toEqual(["mine"]);
  });

  it("that was given a log keeps everything", async () => {
    const runner = createRunner({ agent: createAgent({ name: "a", model: responses(250) }), log: createMemoryEventLog() });
    for (let run = 0; run < 250; run++) await runner.run("go").outcome;
    expect(await runner.sessions.list()).toHaveLength(250);
  });
});
