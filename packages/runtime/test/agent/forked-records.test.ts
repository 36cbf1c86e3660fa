import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentTool, createAgent, createRunner, type Run, type SingleRunner } from "keelson";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { type ScriptedTurn, scriptedModel } from "keelson/testing";
import {
  AgentError,
  type BlobStore,
  type EventLog,
  type InferRequest,
  type LogRecord,
  type Message,
  type SessionId,
  sessionLog,
  type ToolResultPart,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { sessionLogs } from "../../src/session/session-logs.ts";
import { restoreRecords } from "../released-logs/saved-records.ts";
import { RequestMaker, TARGETS } from "../wires/targets.ts";
import { impatientClock, recordingTool } from "./support.ts";

interface Storage {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: ReturnType<typeof impatientClock>;
}

function memoryStorage(): Storage {
  const clock = impatientClock();
  return { clock, log: createMemoryEventLog({ now: () => clock.now() }), blobs: createMemoryBlobStore() };
}

/** One after the other, so that what comes while one is at work is read before the next. */
const tools = (act: (name: string) => void = () => {}) =>
  ["look", "save", "send", "ask"].map((name) =>
    recordingTool(name, { effect: EFFECTS[name] ?? "write", concurrency: "exclusive", output: () => void act(name) }),
  );
const EFFECTS: { readonly [name: string]: "read" | "idempotent" } = { look: "read", save: "idempotent" };
const makers = TARGETS.map((target) => new RequestMaker(target));

async function recordsOf({ log }: Storage, session: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(sessionLog(session as SessionId))) records.push(record);
  return records;
}

const answersIn = (messages: readonly Message[]): readonly ToolResultPart[] =>
  messages.flatMap(({ content }) => content.filter((part): part is ToolResultPart => part.type === "tool-result"));

/** Calls of the last response that stand without a result: what else has none is of an earlier time, and stays as it was. */
function expectAnswered(messages: readonly Message[]): void {
  const last = messages.findLast(({ role }) => role === "assistant");
  const answered = answersIn(messages).map(({ id }) => id as string);
  for (const part of last?.content ?? []) if (part.type === "tool-call") expect(answered).toContain(part.id);
}

/** Forks a session at a record, goes on in it, and holds that against what a fork promises. @returns what closes its history */
async function expectFork(storage: Storage, session: string, seq: number): Promise<readonly Message[]> {
  const acting = tools();
  const requests: InferRequest[] = [];
  const model = scriptedModel([
    (request) => {
      requests.push(request);
      return { text: "Here I am." };
    },
  ]);
  const runner = createRunner({ ...storage, agent: createAgent({ name: "other", model, tools: acting }) });
  const { sessions } = runner;
  const fork = await sessions.fork(session, { seq });
  const history = await sessions.messagesAt(session, seq);
  const { messages, metadata, run } = await sessions.get(fork);
  expect(metadata).toMatchObject({ parent: { session, seq }, turnCount: expect.any(Number) });
  expect(run).toBeUndefined();
  expect(messages.slice(0, history.length)).toEqual(history);
  const closing = messages.slice(history.length);
  expect(await sessions.messagesAt(fork, 1)).toEqual(messages);
  expectAnswered(messages);
  // What closes it is of this session alone: results of calls, then what the user said to those at work.
  expect(closing.map(({ role }) => role).join(" ")).toMatch(/^(tool ?)*(user ?)*$/);
  const outcome = await runner.run("And now?", { session: fork }).outcome;
  expect(outcome).toMatchObject({ reason: "complete", text: "Here I am." });
  expect(requests).toHaveLength(1);
  const maker = makers[seq % makers.length] as RequestMaker;
  expect(await maker.problems(requests[0] as InferRequest), maker.target.name).toEqual([]);
  expect((await sessions.get(fork)).messages.slice(0, messages.length)).toEqual(messages);
  // Nothing is done that was under way there.
  expect(acting.flatMap(({ calls }) => calls)).toEqual([]);
  return closing;
}

/** Of each record of a session. The session itself stays as it is. */
async function expectForks(storage: Storage, session: string): Promise<{ readonly forks: number; readonly closing: readonly Message[] }> {
  const before = await recordsOf(storage, session);
  const closing: Message[] = [];
  for (const { seq } of before) closing.push(...(await expectFork(storage, session, seq)));
  expect(await recordsOf(storage, session)).toEqual(before);
  return { forks: before.length, closing };
}

const call = fc.constantFrom("look", "save", "send", "ask", "helper", "no_such_tool");
const response = fc.oneof(
  { weight: 1, arbitrary: fc.constant("words") },
  { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }) },
);
const life = fc.record({
  runs: fc.array(fc.array(response, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  steers: fc.boolean(),
  /** The append that fails, and with it the process. */
  dies: fc.option(fc.integer({ min: 2, max: 20 })),
});

const scripted = (planned: string | readonly string[]): ScriptedTurn =>
  typeof planned === "string"
    ? planned
    : { toolCalls: planned.map((name) => ({ name, input: name === "helper" ? { task: "help" } : { n: 1 } })) };

/** A session as it may be left behind: ended, waiting for a decision, or broken off. */
async function live(storage: Storage, { runs, steers, dies }: typeof life extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  for (const [index, responses] of runs.entries()) {
    const isLast = index === runs.length - 1;
    let appends = 0;
    const append: EventLog["append"] = (...given) =>
      isLast && dies !== null && !given[0].includes("~") && ++appends >= dies
        ? Promise.reject(new Error("the process is gone"))
        : storage.log.append(...given);
    const helper = createAgent({ name: "helper", model: scriptedModel(Array.from({ length: 20 }, () => "helped")) });
    const agent = createAgent({
      name: "clerk",
      model: scriptedModel([...responses.filter((planned) => planned !== "words").map(scripted), "done", "and on", "and on"]),
      tools: [...tools((name) => steers && name !== "save" && void run.steer(`also ${name}`).catch(() => {})), agentTool(helper)],
      permissions: { rules: [{ pattern: "ask", behavior: "ask" }] },
    });
    const runner: SingleRunner = createRunner({ ...storage, log: { ...storage.log, append }, agent });
    const run: Run = runner.run(`task ${index}`, { session: "s" });
    if ((await run.outcome).reason !== "complete") return;
  }
}

it("a session forked at any of its records has a whole conversation, goes on with a valid request, and repeats nothing [SE-04]", async () => {
  let answered = 0;
  let steered = 0;
  await fc.assert(
    fc.asyncProperty(life, async (plan) => {
      const storage = memoryStorage();
      await live(storage, plan);
      const { closing } = await expectForks(storage, "s");
      answered += closing.filter(({ role }) => role === "tool").length;
      steered += closing.filter(({ role }) => role === "user").length;
    }),
    { numRuns: sampleSize("sessions that are forked at each record", { test: 15, ci: 60, soak: 1000 }), seed },
  );
  // A law that nothing was held against says nothing.
  expect(answered).toBeGreaterThan(10);
  expect(steered).toBeGreaterThan(0);
}, 600_000);

const fixtures = join(import.meta.dirname, "../released-logs/fixtures");

it.each(readdirSync(fixtures))(
  "sessions that version %s left are forked at any of their records [SE-04]",
  async (version) => {
    const clock = impatientClock();
    let at: number | undefined;
    const storage: Storage = { clock, log: createMemoryEventLog({ now: () => at ?? clock.now() }), blobs: createMemoryBlobStore() };
    const records = readFileSync(join(fixtures, version, "records.jsonl"), "utf8");
    await restoreRecords(records, Object.assign(storage.log, { blobs: storage.blobs }), (time) => void (at = time));
    at = undefined;
    const ids: string[] = [];
    for await (const { session } of sessionLogs(storage.log)) ids.push(session);
    let forks = 0;
    for (const id of ids) forks += (await expectForks(storage, id)).forks;
    expect(forks).toBeGreaterThan(500);
  },
  600_000,
);

describe("a fork at a record", () => {
  const calling = (...names: readonly string[]): ScriptedTurn => ({ toolCalls: names.map((name) => ({ name, input: {} })) });

  it("says of a call that is left behind whether it may have taken effect", async () => {
    const storage = memoryStorage();
    await live(storage, { runs: [[["look", "send"]]], steers: false, dies: null });
    const records = await recordsOf(storage, "s");
    const { sessions } = createRunner({ ...storage, agent: createAgent({ name: "a", model: scriptedModel([]) }) });
    const told = async (type: string): Promise<readonly unknown[]> => {
      const { seq } = records.find((record) => record.type === type) as LogRecord;
      const { messages } = await sessions.get(await sessions.fork("s", { seq }));
      return answersIn(messages).map(({ name, output, isError }) => [name, isError === true && String(output).replace(/^.*yet\. /, "")]);
    };
    expect(await told("tool-calls-start")).toEqual([
      ["look", "It changed nothing."],
      ["send", "It changed nothing."],
    ]);
    expect(await told("tool-reserved")).toEqual(
      expect.arrayContaining([["send", "It had been started and may have taken effect: look before you repeat it."]]),
    );
    expect(await told("turn-end")).toEqual([
      ["look", false],
      ["send", false],
    ]);
  });

  it("of a fork goes back through both histories", async () => {
    const storage = memoryStorage();
    const model = scriptedModel([calling("send"), "one", "two", "three"]);
    const runner = createRunner({ ...storage, agent: createAgent({ name: "a", model, tools: tools() }) });
    await runner.run("first", { session: "s" }).outcome;
    const records = await recordsOf(storage, "s");
    const { seq } = records.find(({ type }) => type === "tool-calls-start") as LogRecord;
    const fork = await runner.sessions.fork("s", { seq });
    await runner.run("second", { session: fork }).outcome;
    const { messages } = await runner.sessions.get(fork);
    for (const record of await recordsOf(storage, fork)) {
      const again = await runner.sessions.fork(fork, { seq: record.seq });
      expect((await runner.sessions.get(again)).messages).toEqual(await runner.sessions.messagesAt(fork, record.seq));
    }
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
    await runner.sessions.rewind(fork, 0);
    expect((await runner.sessions.get(fork)).messages).toEqual([]);
  });

  it("reads nothing behind it, so that a session that is damaged there goes on before it", async () => {
    const storage = memoryStorage();
    await live(storage, { runs: [[["send"]], []], steers: false, dies: null });
    const head = await storage.log.head(sessionLog("s" as SessionId));
    await storage.log.append(sessionLog("s" as SessionId), head, [{ key: "x", type: "tool-calls-start", data: {} }]);
    const read: EventLog["read"] = async function* (...given) {
      for await (const record of storage.log.read(...given)) {
        if (given[0] === "session/s" && record.seq > head) throw new Error("damaged");
        yield record;
      }
    };
    const runner = createRunner({
      ...storage,
      log: { ...storage.log, read },
      agent: createAgent({ name: "a", model: scriptedModel(["on"]) }),
    });
    await expect(runner.sessions.get("s")).rejects.toThrow();
    const fork = await runner.sessions.fork("s", { seq: head });
    expect(await runner.run("go on", { session: fork }).outcome).toMatchObject({ reason: "complete", text: "on" });
  });

  it("that there is not is refused, and so is one beside a turn", async () => {
    const storage = memoryStorage();
    await live(storage, { runs: [[]], steers: false, dies: null });
    const { sessions } = createRunner({ ...storage, agent: createAgent({ name: "a", model: scriptedModel([]) }) });
    const head = await storage.log.head(sessionLog("s" as SessionId));
    for (const [options, kind] of [
      [{ seq: head + 1 }, "session"],
      [{ seq: 0 }, "invalid-option"],
      [{ seq: 1.5 }, "invalid-option"],
      [{ seq: 3, turn: 1 }, "invalid-option"],
      [{ record: 3 }, "invalid-option"],
    ] as const)
      await expect(sessions.fork("s", options as never), JSON.stringify(options)).rejects.toSatisfy((error) => AgentError.is(error, kind));
    expect(await sessions.list()).toHaveLength(1);
  });
});
