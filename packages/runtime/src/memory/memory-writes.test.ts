import { StateError, type StateStore } from "@keelson/protocol";
import { type AgentEvent, createAgent, createRunner, defineTool, type RunnerOptions } from "keelson";
import { slidingWindow } from "keelson/context";
import { createMemoryEventLog, createMemoryStore } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import type { Memory } from "./define-memory.ts";
import { userFacts } from "./user-facts.ts";

type Turn = Parameters<typeof scriptedModel>[0][number];

/** Runs an agent once in a session of its own. */
async function run({ tools, rules }: Memory, options: RunnerOptions, turns: readonly Turn[]) {
  const agent = createAgent({ name: "guide", model: scriptedModel(turns), tools, rules });
  const running = createRunner({ agent, ...options }).run("hello");
  const warnings: string[] = [];
  const events: AgentEvent[] = [];
  for await (const event of running) {
    events.push(event);
    if (event.type === "status" && event.level === "warn") warnings.push(event.status);
  }
  return { warnings, events, outcome: await running.outcome };
}

const remember = (text: string): Turn => ({ toolCalls: [{ name: "remember_fact", input: { text } }] });
const correct = (id: string, text: string) => ({ name: "correct_fact", input: { id, text } });

describe("corrections of one item in one run", () => {
  it("all count, so that the last one holds", async () => {
    const state = createMemoryStore();
    const facts = userFacts({ store: state, user: "ada" });
    await run(facts, { state }, [remember("Ada lives in Oslo."), "Noted."]);
    const [{ id } = { id: "" }] = await facts.items();
    const { warnings, outcome } = await run(facts, { state }, [
      { toolCalls: [correct(id, "Ada lives in Rome."), correct(id, "Ada lives in Bern.")] },
      { toolCalls: [correct(id, "Ada lives in Turin.")] },
      "Noted.",
    ]);
    expect(warnings).toEqual([]);
    expect(outcome.effects.map(({ meta }) => meta?.outcome)).toEqual(["done", "done", "done"]);
    expect(await facts.items()).toMatchObject([{ id, text: "Ada lives in Turin.", version: 4 }]);
  });

  it("write over nothing that somebody else corrected in between", async () => {
    const state = createMemoryStore();
    const facts = userFacts({ store: state, user: "ada" });
    await run(facts, { state }, [remember("Ada lives in Oslo."), "Noted."]);
    const [{ id } = { id: "" }] = await facts.items();
    const { warnings } = await run(facts, { state }, [
      { toolCalls: [correct(id, "Ada lives in Rome.")] },
      async () => {
        await facts.correct(id, "Ada lives in Paris.");
        return { toolCalls: [correct(id, "Ada lives in Bern.")] };
      },
      "Noted.",
    ]);
    expect(warnings).toEqual([expect.stringContaining("write-memory")]);
    // The one that was made of what somebody else wrote counts.
    expect(await facts.items()).toMatchObject([{ id, text: "Ada lives in Bern." }]);
  });
});

describe("a memory whose items a runner writes to another store", () => {
  it("says so in a warning as soon as one holds what the other does not", async () => {
    const [store, state] = [createMemoryStore(), createMemoryStore()];
    const facts = userFacts({ store, user: "ada" });
    await run(facts, { state }, [remember("Ada likes tea."), "Noted."]);
    const { warnings, outcome } = await run(facts, { state }, ["Hello."]);
    expect(outcome.reason).toBe("complete");
    expect(warnings).toEqual([expect.stringMatching(/memory "fact".*`store`.*`state`/s)]);
  });

  it("says nothing of stores that hold the same, such as one around the other, nor of a runner's that can't be read", async () => {
    const store = createMemoryStore();
    const around: StateStore = { ...store };
    const facts = userFacts({ store: around, user: "ada" });
    await run(facts, { state: store }, [remember("Ada likes tea."), "Noted."]);
    expect((await run(facts, { state: store }, ["Hello."])).warnings).toEqual([]);
    const down: StateStore = { ...store, list: () => Promise.reject(new StateError({ kind: "unavailable", message: "away" })) };
    expect((await run(facts, { state: down }, ["Hello."])).warnings).toEqual([]);
  });
});

describe("what a run remembers before its conversation is compacted", () => {
  const look = defineTool({ name: "look", description: "Looks.", effect: "read", input: { type: "object" }, execute: () => "ok" });
  const looks = (count: number): readonly Turn[] =>
    Array.from({ length: count }, (_, n) => ({ text: `turn ${n}`, toolCalls: [{ name: "look", input: { n } }] }));

  /** Remembers one thing and forgets another at once, and is compacted later. */
  async function prepared(last: Turn) {
    const state = createMemoryStore();
    const facts = userFacts({ store: state, user: "ada" });
    await run(facts, { state }, [remember("Ada likes tea."), "Noted."]);
    const [{ id } = { id: "" }] = await facts.items();
    const both = [
      { name: "remember_fact", input: { text: "Ada is allergic to nuts." } },
      { name: "forget_fact", input: { id } },
    ];
    const agent = createAgent({
      name: "guide",
      model: scriptedModel([{ toolCalls: both }, ...looks(6), last]),
      tools: [...facts.tools, look],
      compaction: { strategy: slidingWindow({ keep: 4 }), when: { maxMessages: 8 } },
    });
    const told = async (): Promise<readonly string[]> => (await facts.items()).map(({ text, version }) => `${version} ${text}`);
    return { state, agent, told };
  }

  it("is in the store when that is done, and what is to be forgotten goes when the run has its result", async () => {
    const { state, agent, told } = await prepared("Done.");
    const running = createRunner({ agent, state }).run("hello");
    const before: (readonly string[])[] = [];
    for await (const event of running) if (event.type === "compaction") before.push(await told());
    expect(before[0]).toEqual(["1 Ada is allergic to nuts.", "1 Ada likes tea."]);
    expect((await running.outcome).reason).toBe("complete");
    expect(await told()).toEqual(["1 Ada is allergic to nuts."]);
  });

  it("stays where the run fails after it", async () => {
    const { state, agent, told } = await prepared({ error: { kind: "invalid-request", message: "no" } });
    expect((await createRunner({ agent, state }).run("hello").outcome).reason).toBe("error");
    expect(await told()).toEqual(["1 Ada is allergic to nuts.", "1 Ada likes tea."]);
  });

  it("is written once where each turn is taken by another runner", async () => {
    const { state, agent, told } = await prepared("Done.");
    const log = createMemoryEventLog();
    await createRunner({ agent, state, log }).begin("s", "hello");
    for (let next = "now"; next === "now";) next = (await createRunner({ agent, state, log }).advance("s")).next.type;
    expect(await told()).toEqual(["1 Ada is allergic to nuts."]);
  });
});
