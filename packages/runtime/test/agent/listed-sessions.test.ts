import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, createAgent, createRunner } from "keelson";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import type { ListOptions } from "keelson/session";
import { AgentError, type EventLog, type SessionId, sessionLog, type SessionMetadata } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { impatientClock, recordingTool } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-listed-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A log that counts who reads it. */
function counting(log: EventLog): { readonly log: EventLog; readonly reads: () => number; readonly readOf: ReadonlySet<string> } {
  let reads = 0;
  const readOf = new Set<string>();
  const read: EventLog["read"] = (...given) => {
    reads++;
    readOf.add(given[0]);
    return log.read(...given);
  };
  return { log: { ...log, read }, reads: () => reads, readOf };
}

/** Sessions of many kinds: with tools, children, names and tags; forked, rewound, suspended, broken off in a turn, and without a run. */
async function someSessions(log: EventLog, clock: ReturnType<typeof impatientClock>) {
  const blobs = createMemoryBlobStore();
  const calling = (name: string) => ({ toolCalls: [{ name, input: name === "helper" ? { task: "help" } : {} }] });
  const script = Array.from({ length: 8 }, (_, n) => [calling("look"), calling("helper"), `answer ${n}`]).flat();
  const helper = createAgent({ name: "helper", model: scriptedModel(Array.from({ length: 8 }, () => "helped")) });
  const runner = createRunner({
    log,
    blobs,
    clock,
    agents: {
      lead: createAgent({ name: "lead", model: scriptedModel(script), tools: [recordingTool("look"), agentTool(helper)] }),
      asking: createAgent({
        name: "asking",
        model: scriptedModel([calling("send")]),
        tools: [recordingTool("send")],
        permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
      }),
    },
  });
  const { sessions } = runner;
  await sessions.create({ id: "empty", name: "Nothing yet", tags: ["a", "b"], agent: "lead" });
  for (const session of ["plain", "forked", "rewound", "large"]) {
    await runner.run(session === "large" ? "x".repeat(200_000) : "go", { agent: "lead", session }).outcome;
    clock.advance(10);
  }
  await runner.run("go", { agent: "asking", session: "suspended" }).outcome;
  clock.advance(10);
  await runner.run("more", { agent: "lead", session: "rewound" }).outcome;
  await sessions.rewind("rewound", 1);
  await sessions.fork("forked", { id: "fork", name: "A fork" });
  await sessions.rename("plain", "Renamed");
  await sessions.tag("plain", "tagged");
  const broken = createAgent({ name: "broken", model: scriptedModel([calling("look"), "never"]), tools: [recordingTool("look")] });
  const dying = {
    ...log,
    append: (async (...given) =>
      given[2].some(({ type }) => type === "tool-result") ? Promise.reject(new Error("gone")) : log.append(...given)) as EventLog["append"],
  };
  await createRunner({ log: dying, blobs, clock, agent: broken }).run("go", { session: "broken" }).outcome;
  return { blobs, sessions, agent: createAgent({ name: "any", model: scriptedModel([]) }) };
}

const byId = (listed: readonly SessionMetadata[]) => new Map(listed.map((metadata) => [metadata.id as string, metadata]));

describe.each([
  ["in memory", (now: () => number) => createMemoryEventLog({ now })],
  ["on SQLite", (now: () => number) => createSqliteEventLog({ path: join(folder, `${++files}.db`), now })],
])("sessions in a log %s", (_name, open) => {
  it("are listed as their folds would tell of them, and none of their records is read for it [SE-04]", async () => {
    const clock = impatientClock();
    await using kept = open(() => clock.now());
    const { blobs, agent, sessions } = await someSessions(kept, clock);
    const { log, reads } = counting(kept);
    const listed = byId(await createRunner({ log, blobs, clock, agent }).sessions.list({ children: true }));
    expect(reads()).toBe(0);
    expect([...listed.keys()].filter((id) => !id.includes("~")).sort()).toEqual(
      ["broken", "empty", "fork", "forked", "large", "plain", "rewound", "suspended"].sort(),
    );
    expect(listed.size).toBeGreaterThan(8);
    for (const [id, metadata] of listed) expect(metadata, id).toEqual((await sessions.get(id)).metadata);
  });

  it("are listed by agent, tag, state and time, and none of their records is read for that either [SE-04]", async () => {
    const clock = impatientClock();
    await using kept = open(() => clock.now());
    const { blobs, agent } = await someSessions(kept, clock);
    const { log, reads } = counting(kept);
    const { sessions } = createRunner({ log, blobs, clock, agent });
    const all = await sessions.list({ children: true });
    const ids = async (options?: ListOptions) => (await sessions.list(options)).map(({ id }) => id as string).sort();
    expect(await ids({ agent: "asking" })).toEqual(["suspended"]);
    expect(await ids({ tag: "tagged" })).toEqual(["plain"]);
    expect(await ids({ tag: "a", agent: "lead" })).toEqual(["empty"]);
    expect(await ids({ tag: "a", agent: "asking" })).toEqual([]);
    expect(await ids({ state: "suspended" })).toEqual(["suspended"]);
    expect(await ids({ state: "working" })).toEqual(["broken"]);
    // A session without a run is in no state.
    expect(await ids({ state: "ended" })).toEqual(["forked", "large", "plain", "rewound"]);
    expect(byId(await sessions.list()).get("empty")).not.toHaveProperty("state");
    const about = byId(await sessions.list());
    expect([about.get("suspended"), about.get("plain"), about.get("broken")]).toMatchObject([
      { state: "suspended", reason: "awaiting-approval" },
      { state: "ended", reason: "complete" },
      { state: "working" },
    ]);
    for (const { updatedAt } of all) {
      const since = all.filter((other) => other.updatedAt >= updatedAt);
      expect(await sessions.list({ since: updatedAt, children: true })).toEqual(since);
      expect(await sessions.list({ until: updatedAt, children: true })).toEqual(all.slice(since.length));
    }
    expect(reads()).toBe(0);
  });

  it("are not listed by an option that there is not, or that is no such thing", async () => {
    const clock = impatientClock();
    await using log = open(() => clock.now());
    const { sessions } = createRunner({ log, clock, agent: createAgent({ name: "any", model: scriptedModel([]) }) });
    for (const [options, option] of [
      [{ tags: "a" }, "tags"],
      [{ state: "waiting" }, "state"],
      [{ since: "yesterday" }, "since"],
      [{ until: Number.NaN }, "until"],
    ] as const)
      await expect(sessions.list(options as never)).rejects.toSatisfy(
        (error) => AgentError.is(error, "invalid-option") && error.failure.option === option,
      );
  });

  it("whose summaries do not say why their runs are not at work are folded once for it", async () => {
    const clock = impatientClock();
    await using kept = open(() => clock.now());
    const { blobs, agent } = await someSessions(kept, clock);
    for (const { log, head, summary } of await kept.list()) {
      const { reason, ...before } = summary ?? {};
      if (reason !== undefined) await kept.append(log, head, [], { summary: before });
    }
    const first = counting(kept);
    const sessionsOf = (log: EventLog) => createRunner({ log, blobs, clock, agent }).sessions;
    const listed = byId(await sessionsOf(first.log).list({ state: "ended" }));
    expect([...listed.keys()].sort()).toEqual(["forked", "large", "plain", "rewound"]);
    expect(listed.get("plain")).toMatchObject({ state: "ended", reason: "complete" });
    expect(first.readOf).toContain("session/suspended");
    expect(first.readOf).not.toContain("session/broken");
    const second = counting(kept);
    expect(byId(await sessionsOf(second.log).list({ state: "ended" }))).toEqual(listed);
    expect(second.reads()).toBe(0);
  });

  it("are not read for open questions or to be recovered once their runs are over", async () => {
    const clock = impatientClock();
    await using kept = open(() => clock.now());
    const { blobs, agent } = await someSessions(kept, clock);
    const { log, readOf } = counting(kept);
    const { approvals, recover } = createRunner({ log, blobs, clock, agent });
    expect((await approvals.list()).map(({ session }) => session)).toEqual(["suspended"]);
    await recover();
    expect([...readOf].filter((id) => !id.includes("~")).sort()).toEqual([
      "session/broken",
      "session/suspended",
      "session/suspended/inbox",
    ]);
  });

  it("that an earlier version left without summaries are folded once, and listed the same without it afterwards", async () => {
    const clock = impatientClock();
    await using kept = open(() => clock.now());
    const { blobs, agent, sessions } = await someSessions(kept, clock);
    const without: EventLog = { ...open(() => clock.now()) };
    for (const { log } of await kept.list()) {
      const records = [];
      for await (const { key, type, data } of kept.read(log)) records.push({ key, type, data });
      await without.append(log, 0, records);
    }
    const first = counting(without);
    const ids = (await createRunner({ log: first.log, blobs, clock, agent }).sessions.list()).map(({ id }) => id);
    expect(ids).toHaveLength(8);
    expect(first.reads()).toBeGreaterThanOrEqual(8);
    const second = counting(without);
    const again = createRunner({ log: second.log, blobs, clock, agent }).sessions;
    const listed = await again.list();
    expect(second.reads()).toBe(0);
    for (const metadata of listed) {
      expect(metadata).toEqual((await again.get(metadata.id)).metadata);
      const { createdAt: _created, updatedAt: _updated, ...rest } = metadata;
      expect((await sessions.get(metadata.id)).metadata).toMatchObject(rest);
    }
    // What is added by who keeps no summary is seen, too.
    const head = await without.head(sessionLog("plain" as SessionId));
    await without.append(sessionLog("plain" as SessionId), head, [{ key: "session/late", type: "session-rename", data: { name: "Late" } }]);
    expect(byId(await again.list()).get("plain")).toMatchObject({ name: "Late" });
    await without[Symbol.asyncDispose]();
  });
});

const fixtures = join(import.meta.dirname, "../released-logs/fixtures");

it.each(readdirSync(fixtures))("lists the sessions that version %s left in a file, and reads them for it only once", async (version) => {
  const path = join(folder, `${version}.db`);
  copyFileSync(join(fixtures, version, "checkpointed", "sessions.db"), path);
  const clock = impatientClock();
  const agent = createAgent({ name: "any", model: scriptedModel([]) });
  await using log = createSqliteEventLog({ path, now: () => clock.now() });
  const { sessions } = createRunner({ log, clock, agent });
  const first = await sessions.list({ children: true });
  expect(first.length).toBeGreaterThan(5);
  const again = counting(log);
  expect(await createRunner({ log: again.log, clock, agent }).sessions.list({ children: true })).toEqual(first);
  expect(again.reads()).toBe(0);
  for (const metadata of first) expect(metadata, metadata.id).toEqual((await sessions.get(metadata.id)).metadata);
  for (const state of ["working", "suspended", "ended"] as const) {
    const wanted = first.filter((metadata) => metadata.state === state);
    expect(wanted, state).not.toEqual([]);
    expect(await sessions.list({ state, children: true })).toEqual(wanted);
  }
});
