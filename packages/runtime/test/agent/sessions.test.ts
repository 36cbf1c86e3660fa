import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, createAgent, createRunner, textMessage, type RecordedEvent, type SingleRunner } from "keelson";
import type { RunnerServices } from "keelson/agent";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { AgentError, sessionLog, type Message } from "@keelson/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool } from "./support.ts";

type Storage = Pick<RunnerServices, "log" | "blobs" | "clock">;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const BACKENDS: readonly (readonly [string, () => Promise<Storage>])[] = [
  [
    "in memory",
    async () => {
      const clock = impatientClock();
      return { clock, log: createMemoryEventLog({ now: () => clock.now() }), blobs: createMemoryBlobStore() };
    },
  ],
  [
    "on SQLite",
    async () => {
      const clock = impatientClock();
      const folder = await mkdtemp(join(tmpdir(), "keelson-sessions-"));
      const path = join(folder, "sessions.db");
      const log = createSqliteEventLog({ path, now: () => clock.now() });
      const blobs = createSqliteBlobStore(path);
      cleanups.push(
        () => rm(folder, { recursive: true, force: true }),
        async () => log[Symbol.asyncDispose](),
        async () => blobs[Symbol.asyncDispose](),
      );
      return { clock, log, blobs };
    },
  ],
];

const advance = (storage: Storage, ms: number): void => (storage.clock as ReturnType<typeof impatientClock>).advance(ms);
const texts = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type)).join(""));

function runnerWith(
  storage: Storage,
  turns: readonly ScriptedTurn[] = Array.from({ length: 20 }, (_, n) => `answer ${n + 1}`),
): SingleRunner {
  return createRunner({ ...storage, agent: createAgent({ name: "clerk", model: scriptedModel(turns) }) });
}

async function say(runner: SingleRunner, session: string, ...words: readonly string[]): Promise<void> {
  for (const word of words) expect((await runner.run(word, { session }).outcome).reason).toBe("complete");
}

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "not refused",
    (error: unknown) => (AgentError.is(error) ? error.failure.kind : error),
  );

describe.each(BACKENDS)("sessions %s", (_name, open) => {
  it("are created with a name and tags, once, under an id of one's own or a new one [SE-02, SE-04]", async () => {
    const storage = await open();
    const { sessions } = runnerWith(storage);
    expect(await sessions.create({ id: "mine", name: "My work", tags: ["a"], agent: "clerk" })).toBe("mine");
    expect(await sessions.get("mine")).toMatchObject({
      metadata: { id: "mine", name: "My work", tags: ["a"], agentName: "clerk", turnCount: 0, totalTokens: 0 },
      messages: [],
    });
    expect(await refusal(sessions.create({ id: "mine" }))).toBe("session");
    expect(await sessions.create()).not.toBe(await sessions.create());
    for (const id of ["", "../etc", "a b", "a/b", "a~b", "x".repeat(201)])
      expect(await refusal(sessions.create({ id })), id).toBe("session");
  });

  it("count turns, tokens and cost over all their runs, and say when they began and last changed [SE-02]", async () => {
    const storage = await open();
    const runner = runnerWith(storage);
    const before = storage.clock.now();
    await say(runner, "s", "one");
    advance(storage, 1000);
    await say(runner, "s", "two");
    const { metadata, run } = await runner.sessions.get("s");
    expect(metadata).toMatchObject({
      agentName: "clerk",
      createdAt: before,
      updatedAt: before + 1000,
      turnCount: 2,
      totalTokens: 30,
      cost: null,
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    expect(run).toMatchObject({ status: "ended", reason: "complete" });
  });

  it("hold one conversation, which the next run goes on with; without a session a run begins a new one [RN-08, SE-04]", async () => {
    const storage = await open();
    const runner = runnerWith(storage);
    await say(runner, "s", "one", "two");
    expect(texts((await runner.sessions.get("s")).messages)).toEqual(["one", "answer 1", "two", "answer 2"]);
    const alone = runner.run("alone");
    await alone.outcome;
    expect(texts((await runner.sessions.get(alone.session)).messages)).toEqual(["alone", "answer 3"]);
  });

  it("are listed with the last changed first, without those of children [SE-04]", async () => {
    const storage = await open();
    const runner = runnerWith(storage);
    for (const session of ["a", "b", "c"]) {
      await say(runner, session, "hi");
      advance(storage, 10);
    }
    await runner.sessions.tag("a", "touched");
    expect((await runner.sessions.list()).map(({ id }) => id)).toEqual(["a", "c", "b"]);
  });

  it("are renamed, and tagged without duplicates [SE-04]", async () => {
    const { sessions, ...runner } = runnerWith(await open());
    await say({ sessions, ...runner }, "s", "hi");
    await sessions.rename("s", "First");
    await sessions.rename("s", "Second");
    for (const tag of ["x", "y", "x"]) await sessions.tag("s", tag);
    expect((await sessions.get("s")).metadata).toMatchObject({ name: "Second", tags: ["x", "y"] });
  });

  it("of which there are none are refused by everything that wants one [SE-04]", async () => {
    const runner = runnerWith(await open());
    const { sessions } = runner;
    const drain = async (): Promise<void> => {
      for await (const _event of sessions.events("none")) expect.unreachable();
    };
    for (const act of [
      () => sessions.get("none"),
      () => sessions.fork("none"),
      () => sessions.rewind("none", 0),
      () => sessions.rename("none", "x"),
      () => sessions.tag("none", "x"),
      () => sessions.delete("none"),
      drain,
      () => runner.resume("none"),
    ])
      expect(await refusal(act())).toBe("session");
    expect(await sessions.list()).toEqual([]);
  });

  it("tell all their runs' durable events, from any place [SE-04]", async () => {
    const runner = runnerWith(await open());
    await say(runner, "s", "one", "two");
    const events: RecordedEvent[] = [];
    for await (const event of runner.sessions.events("s")) events.push(event);
    expect(ofType(events, "run-start")).toHaveLength(2);
    expect(new Set(events.map(({ runId }) => runId)).size).toBe(2);
    const [, second] = ofType(events, "run-start");
    const later: RecordedEvent[] = [];
    for await (const event of runner.sessions.events("s", { after: (second?.seq ?? 0) - 1 })) later.push(event);
    expect(later).toEqual(events.slice(events.indexOf(second as RecordedEvent)));
  });

  describe("forked", () => {
    it("share the history up to a turn, then go their own ways [SE-04]", async () => {
      const runner = runnerWith(await open());
      await say(runner, "s", "one", "two", "three");
      const fork = await runner.sessions.fork("s", { turn: 2 });
      expect((await runner.sessions.get(fork)).metadata).toMatchObject({
        name: "s (fork)",
        turnCount: 2,
        agentName: "clerk",
        totalTokens: 0,
        parent: { session: "s" },
      });
      await say(runner, fork, "else");
      await say(runner, "s", "four");
      expect(texts((await runner.sessions.get(fork)).messages)).toEqual(["one", "answer 1", "two", "answer 2", "else", "answer 4"]);
      expect(texts((await runner.sessions.get("s")).messages)).toEqual([
        "one",
        "answer 1",
        "two",
        "answer 2",
        "three",
        "answer 3",
        "four",
        "answer 5",
      ]);
    });

    it("are named as asked, begin at the last complete turn by default, and may begin before the first [SE-04]", async () => {
      const runner = runnerWith(await open());
      await say(runner, "s", "one", "two");
      await runner.sessions.rename("s", "Plan");
      const whole = await runner.sessions.get(await runner.sessions.fork("s"));
      expect([whole.metadata.name, whole.messages.length]).toEqual(["Plan (fork)", 4]);
      const none = await runner.sessions.get(await runner.sessions.fork("s", { turn: 0, name: "Fresh" }));
      expect([none.metadata.name, none.messages.length, none.metadata.turnCount]).toEqual(["Fresh", 0, 0]);
      for (const turn of [3, -1, 1.5]) expect(await refusal(runner.sessions.fork("s", { turn }))).toBe("session");
    });

    it("from forks, also at a turn that they only inherited, have the right history [SE-04]", async () => {
      const runner = runnerWith(await open());
      await say(runner, "s", "one", "two");
      const first = await runner.sessions.fork("s");
      await say(runner, first, "three", "four");
      const late = await runner.sessions.fork(first, { turn: 3 });
      const early = await runner.sessions.fork(first, { turn: 1 });
      expect(texts((await runner.sessions.get(late)).messages)).toEqual(["one", "answer 1", "two", "answer 2", "three", "answer 3"]);
      expect(texts((await runner.sessions.get(early)).messages)).toEqual(["one", "answer 1"]);
      await say(runner, early, "other");
      expect(texts((await runner.sessions.get(await runner.sessions.fork(early))).messages)).toEqual([
        "one",
        "answer 1",
        "other",
        "answer 5",
      ]);
    });
  });

  describe("rewound", () => {
    it("forget the turns after, and go on from there; the log keeps what was [SE-04]", async () => {
      const storage = await open();
      const runner = runnerWith(storage);
      await say(runner, "s", "one", "two", "three");
      const head = await storage.log.head(sessionLog("s"));
      await runner.sessions.rewind("s", 1);
      expect((await runner.sessions.get("s")).metadata).toMatchObject({ turnCount: 1, totalTokens: 45 });
      await say(runner, "s", "again");
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["one", "answer 1", "again", "answer 4"]);
      await runner.sessions.rewind("s", 0);
      expect((await runner.sessions.get("s")).messages).toEqual([]);
      expect(await storage.log.head(sessionLog("s"))).toBeGreaterThan(head);
    });

    it("to a turn that there is not are refused, and so are those with an unfinished run [SE-04]", async () => {
      const storage = await open();
      const ask = recordingTool("ask", { effect: "write", risk: "high" });
      const runner = createRunner({
        ...storage,
        agent: createAgent({ name: "clerk", model: scriptedModel(["one", { toolCalls: [{ name: "ask" }] }]), tools: [ask] }),
      });
      await say(runner, "s", "one");
      for (const turns of [2, -1, 0.5, Number.NaN]) expect(await refusal(runner.sessions.rewind("s", turns))).toBe("session");
      expect((await runner.run("two", { session: "s" }).outcome).reason).toBe("awaiting-approval");
      expect(await refusal(runner.sessions.rewind("s", 1))).toBe("session");
      expect((await runner.sessions.get("s")).run).toMatchObject({ status: "suspended", reason: "awaiting-approval" });
    });

    it("in forks, also to a turn that was inherited, leave the parent as it was [SE-04]", async () => {
      const runner = runnerWith(await open());
      await say(runner, "s", "one", "two");
      const fork = await runner.sessions.fork("s");
      await say(runner, fork, "three");
      await runner.sessions.rewind(fork, 1);
      await say(runner, fork, "new");
      expect(texts((await runner.sessions.get(fork)).messages)).toEqual(["one", "answer 1", "new", "answer 4"]);
      expect((await runner.sessions.get("s")).messages).toHaveLength(4);
    });

    it("past a compaction have the conversation as it was before", async () => {
      const storage = await open();
      const overflow: ScriptedTurn = { error: { kind: "context-overflow" } };
      const agent = createAgent({
        name: "clerk",
        model: scriptedModel(["answer 1", "answer 2", overflow, "answer 3", "answer 4"]),
        compact: async () => ({ messages: [textMessage("user", "summary")], summary: "summary" }),
      });
      const runner = createRunner({ ...storage, agent });
      await say(runner, "s", "one", "two", "three");
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["summary", "answer 3"]);
      await runner.sessions.rewind("s", 3);
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["summary", "answer 3"]);
      await runner.sessions.rewind("s", 2);
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["one", "answer 1", "two", "answer 2"]);
      await runner.sessions.rewind("s", 1);
      await say(runner, "s", "other");
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["one", "answer 1", "other", "answer 4"]);
    });
  });

  describe("deleted", () => {
    it("are gone with their inbox and their children, and their id is free [SE-04]", async () => {
      const storage = await open();
      const helper = createAgent({ name: "helper", model: scriptedModel(["helped"]) });
      const model = scriptedModel([{ toolCalls: [{ name: "helper", input: { task: "help" } }] }, "done", "fresh"]);
      const runner = createRunner({ ...storage, agent: createAgent({ name: "clerk", model, tools: [agentTool(helper)] }) });
      const run = runner.run("one", { session: "s" });
      await run.steer("also this");
      await run.outcome;
      expect(await runner.sessions.list({ children: true })).toHaveLength(2);
      await runner.sessions.delete("s");
      expect(await storage.log.list()).toEqual([]);
      await say(runner, "s", "two");
      expect(texts((await runner.sessions.get("s")).messages)).toEqual(["two", "fresh"]);
    });

    it("are not while forks share their history; forks go first [SE-04]", async () => {
      const runner = runnerWith(await open());
      const { sessions } = runner;
      await say(runner, "s", "one", "two");
      await sessions.fork("s", { turn: 0 });
      const fork = await sessions.fork("s");
      expect(await refusal(sessions.delete("s"))).toBe("session");
      expect((await sessions.get(fork)).messages).toHaveLength(4);
      await sessions.delete(fork);
      await sessions.delete("s");
      expect(await refusal(sessions.get("s"))).toBe("session");
    });
  });

  it("that are worked on are changed and deleted by nobody else [SE-04]", async () => {
    const storage = await open();
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => (release = resolve));
    const runner = runnerWith(storage, ["first", { text: "slow", wait: waiting }]);
    await say(runner, "s", "one");
    const run = runner.run("two", { session: "s" });
    for await (const event of run) if (event.type === "turn-start") break;
    for (const act of [
      () => runner.sessions.rename("s", "x"),
      () => runner.sessions.tag("s", "x"),
      () => runner.sessions.rewind("s", 0),
      () => runner.sessions.delete("s"),
      () => runner.resume("s"),
    ])
      expect(await refusal(act())).toBe("session");
    const second = await runner.run("three", { session: "s" }).outcome;
    expect(second.error?.failure.kind).toBe("session");
    expect((await runner.sessions.get("s")).metadata.turnCount).toBe(1);
    release();
    expect((await run.outcome).text).toBe("slow");
    await runner.sessions.rename("s", "x");
  });

  it("keep large values as blobs, and everyone reads them whole [SE-01]", async () => {
    const storage = await open();
    const large = "é".repeat(50_000);
    const runner = runnerWith(storage, [large, "short"]);
    await say(runner, "s", large);
    const stored: number[] = [];
    for await (const record of storage.log.read(sessionLog("s"))) stored.push(JSON.stringify(record.data).length);
    expect(Math.max(...stored)).toBeLessThan(70_000);
    const again = createRunner({ ...storage, agent: createAgent({ name: "clerk", model: scriptedModel(["and on"]) }) });
    expect(texts((await again.sessions.get("s")).messages)).toEqual([large, large]);
    const fork = await again.sessions.fork("s");
    await say(again, fork, "more");
    expect(texts((await again.sessions.get(fork)).messages)).toEqual([large, large, "more", "and on"]);
    const complete: string[] = [];
    for await (const event of again.sessions.events("s")) if (event.type === "run-complete") complete.push(event.text);
    expect(complete).toEqual([large]);
  });
});
