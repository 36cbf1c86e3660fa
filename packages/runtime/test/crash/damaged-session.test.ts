import { cp, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type JsonObject, KeelsonError, LogError, type NewRecord, type SessionId, sessionLog } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { createAgent, createRunner } from "../../src/index.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { impatientClock } from "../agent/support.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { finish } from "./finish.ts";
import { createPoints } from "./points.ts";
import { liveInProcess, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { openScenario, SESSION } from "./scenario.ts";
import { sideEffectsInMemory } from "./side-effects.ts";
import { simulateLives, undisturbed } from "./simulated-lives.ts";

const { passed } = await undisturbed();

/** How a run was opened again and what came of it: an ending, or the kind of a typed error. */
async function reopened(folder: string): Promise<string> {
  try {
    await using scenario = openFolder(folder, { points: createPoints() });
    const { outcome } = await finish(scenario.runner, scenario.log, scenario.effects);
    return outcome.error === undefined ? outcome.reason : `error/${outcome.error.failure.kind}`;
  } catch (error) {
    if (error instanceof KeelsonError) return `thrown/${error.failure.kind}`;
    throw error;
  }
}

const DAMAGES = sampleSize("damages to a session's file", { test: 40, ci: 400, soak: 4_000 });
const timeout = 60_000 + DAMAGES * 500;

it("opens a session whose file was cut short or scribbled over, or says in a typed error that it can't", { timeout }, async () => {
  await withFolder(async (base) => {
    await liveInProcess(base);
    const whole = await readFile(join(base, "sessions.db"));
    const random = randomNumbers(seed);
    const came = new Map<string, number>();
    for (let index = 0; index < DAMAGES; index++) {
      await withFolder(async (folder) => {
        await cp(base, folder, { recursive: true });
        const path = join(folder, "sessions.db");
        if (index % 4 === 0) await truncate(path, Math.floor(random() * whole.length));
        else {
          const bytes = Buffer.from(whole);
          const at = Math.floor(random() * bytes.length);
          for (let offset = 0; offset < 64 && at + offset < bytes.length; offset++) bytes[at + offset] = Math.floor(random() * 256);
          await writeFile(path, bytes);
        }
        const what = await reopened(folder);
        came.set(what, (came.get(what) ?? 0) + 1);
      });
    }
    expect(
      [...came.keys()].filter(
        (what) =>
          ![
            "complete",
            "thrown/corrupt",
            "thrown/session",
            "thrown/backend",
            "thrown/invalid-token",
            "error/backend",
            "error/session",
            "error/detached",
            "thrown/invalid-input",
          ].includes(what),
      ),
      `seed ${seed}: ${JSON.stringify([...came])}`,
    ).toEqual([]);
    expect(came.size).toBeGreaterThan(1);
  });
});

it("names the record of a log that makes no sense, and leaves the log as it is", async () => {
  const lives = simulateLives();
  await lives.live(passed.find((place) => place.startsWith("pay/")) ?? "");
  const id = sessionLog(SESSION as SessionId);
  const records: { readonly key: string; readonly type: string; readonly data: JsonObject }[] = [];
  for await (const { key, type, data } of lives.log.read(id)) records.push({ key, type, data });
  // In the place of the first record of this type, one that says nothing of what it should.
  for (const [type, as] of [
    ["run-start", "turn-start"],
    ["message", "message"],
    ["usage", "usage"],
  ] as const) {
    const index = records.findIndex((record) => record.type === type);
    const log = createMemoryEventLog();
    const { seq } = await log.append(
      id,
      0,
      records.map((record, place) => (place === index ? { key: record.key, type: as, data: { note: "?" } } : record)),
    );
    const runner = openScenario({ log, blobs: createMemoryBlobStore(), effects: sideEffectsInMemory(), points: createPoints() });
    const error = await runner.resume(SESSION).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect({
      type,
      kind: AgentError.is(error) && error.failure.kind,
      seq: AgentError.is(error) && LogError.is(error.cause, "corrupt") && error.cause.failure.seq,
    }).toEqual({ type, kind: "backend", seq: index + 1 });
    expect(await log.head(id), type).toBe(seq);
  }
});

describe("one damaged session among others", () => {
  /** A log in which a process left three runs in the middle of an inference, of which the second is damaged at its third record. */
  async function threeSessions() {
    const clock = impatientClock();
    const log = createMemoryEventLog({ now: () => clock.now() });
    const blobs = createMemoryBlobStore();
    const agent = createAgent({ name: "a", model: scriptedModel(["done", "done", "done"]) });
    const runner = createRunner({ agent, log, blobs, clock });
    const copies: (readonly [SessionId, readonly NewRecord[]])[] = [];
    for (const id of ["one", "two", "three"]) {
      await runner.run("go", { session: id }).outcome;
      const records: NewRecord[] = [];
      for await (const { key, type, data } of log.read(sessionLog(id as SessionId))) {
        if (type === "message" && (data["message"] as { readonly role: string }).role === "assistant") break;
        records.push({ key, type, data });
      }
      copies.push([id as SessionId, records]);
    }
    const left = createMemoryEventLog({ now: () => clock.now() });
    for (const [id, records] of copies) {
      const damaged = records.map((record, index) => (id === "two" && index === 2 ? { ...record, data: { note: "?" } } : record));
      await left.append(sessionLog(id), 0, damaged);
    }
    const later = createAgent({ name: "a", model: scriptedModel(["again", "again"]) });
    return { log: left, blobs, clock, runner: createRunner({ agent: later, log: left, blobs, clock }) };
  }

  it("keeps no other from being recovered, and is told of with what is wrong with it", async () => {
    const { runner, log } = await threeSessions();
    const head = await log.head(sessionLog("two" as SessionId));
    const { runs, failed } = await runner.recover();
    expect(runs.map(({ session }) => session)).toEqual(["one", "three"]);
    for (const run of runs) expect(await run.outcome).toMatchObject({ reason: "complete", text: "again" });
    expect(failed.map(({ session }) => session)).toEqual(["two"]);
    expect(AgentError.is(failed[0]?.error, "backend") && LogError.is(failed[0].error.cause, "corrupt")).toBe(true);
    expect(failed[0]?.error.message).toMatch(/Record 3 \(message\) of session "two" makes no sense: restore the log from a backup/);
    expect(await log.head(sessionLog("two" as SessionId))).toBe(head);
    expect(await runner.recover()).toMatchObject({ runs: [], failed: [{ session: "two" }] });
  });

  it("is listed with the others, marked, with what stands before the damage; and it can be deleted [SE-04]", async () => {
    const { runner } = await threeSessions();
    const listed = await runner.sessions.list();
    expect(listed.map(({ id }) => id).sort()).toEqual(["one", "three", "two"]);
    expect(listed.filter(({ damaged }) => damaged !== undefined)).toEqual([
      expect.objectContaining({ id: "two", agentName: "a", damaged: expect.stringMatching(/Record 3 .* makes no sense/) }),
    ]);
    await expect(runner.sessions.get("two")).rejects.toThrow(/Record 3/);
    await runner.sessions.delete("two");
    expect((await runner.sessions.list()).map(({ id, damaged }) => [id, damaged]).sort()).toEqual([
      ["one", undefined],
      ["three", undefined],
    ]);
  });

  it("marks the fork that shares its history, and one whose blob is lost", async () => {
    const { runner, log } = await threeSessions();
    const parent = { session: "two", seq: 4 };
    await log.append(sessionLog("fork" as SessionId), 0, [{ key: "session/create", type: "session-create", data: { parent } }]);
    const blob = { "~blob": `sha256-${"0".repeat(64)}` };
    await log.append(sessionLog("large" as SessionId), 0, [
      { key: "session/create", type: "session-create", data: { name: "Large" } },
      { key: "r/start", type: "run-start", data: blob },
    ]);
    const damaged = (await runner.sessions.list()).filter((listed) => listed.damaged !== undefined);
    expect(damaged.map(({ id }) => id).sort()).toEqual(["fork", "large", "two"]);
    expect(damaged.find(({ id }) => id === "large")).toMatchObject({ name: "Large", damaged: expect.stringMatching(/blob/i) });
    expect((await runner.recover()).failed.map(({ session }) => session).sort()).toEqual(["fork", "large", "two"]);
  });

  it("is not what a log that fails looks like: then nothing is listed or begun", async () => {
    const { blobs, clock, log } = await threeSessions();
    const agent = createAgent({ name: "a", model: scriptedModel([]) });
    const unavailable = (): never => {
      throw new LogError({ kind: "unavailable", message: "no connection" });
    };
    const reading = createRunner({ agent, blobs, clock, log: { ...log, read: unavailable } });
    await expect(reading.sessions.list()).rejects.toThrow(/no connection/);
    expect((await reading.recover()).failed).toHaveLength(3);
    const listing = createRunner({ agent, blobs, clock, log: { ...log, list: unavailable } });
    for (const listed of [listing.sessions.list(), listing.recover()]) {
      const error: unknown = await listed.catch((thrown: unknown) => thrown);
      expect(AgentError.is(error, "backend")).toBe(true);
    }
  });
});
