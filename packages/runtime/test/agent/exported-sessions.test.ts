import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, createAgent, createRunner } from "keelson";
import { createKeyRing, newKey } from "keelson/secrets";
import { encryptEventLog } from "keelson/security";
import { exportSession, importSession, type ExportSource } from "keelson/session";
import { createMemoryBlobStore, createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { AgentError, type BlobStore, type EventLog, LogError, type LogId, sessionLog } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { impatientClock, recordingTool, sharedServices } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-exported-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

interface Place {
  readonly log: EventLog;
  readonly blobs: BlobStore;
}

function sqlite(now?: () => number): Place & AsyncDisposable {
  const log = createSqliteEventLog({ path: join(folder, `${++files}.db`), ...(now && { now }) });
  return { log, blobs: log.blobs, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}

function memory(now?: () => number): Place {
  return { log: createMemoryEventLog(now ? { now } : {}), blobs: createMemoryBlobStore() };
}

async function exported(place: Place, id: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportSession({ log: place.log, blobs: place.blobs, now: () => 5 }, id)) lines.push(line);
  return lines;
}

/** In pieces that end anywhere. */
const from = (lines: readonly string[], size = 1000): ExportSource =>
  async function* () {
    const bytes = Buffer.from(lines.join(""));
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };

const LARGE = `é😀 ${"large ".repeat(20_000)}`;

/** `a`: with a large input, a child and an inbox; `fork` of it, which went on. */
async function someSessions(): Promise<Place> {
  const clock = impatientClock();
  const now = (): number => clock.now();
  const place = memory(now);
  const helper = createAgent({ name: "helper", model: scriptedModel([LARGE, "helped", "helped"]) });
  const script = Array.from({ length: 4 }, (_, n) => [{ toolCalls: [{ name: "helper", input: { task: "help" } }] }, `answer ${n}`]).flat();
  const agent = createAgent({ name: "lead", model: scriptedModel(script), tools: [agentTool(helper)] });
  const runner = createRunner({ agent, ...place, clock });
  await runner.run(LARGE, { session: "a" }).outcome;
  clock.advance(1000);
  await runner.run("more", { session: "a" }).outcome;
  await runner.sessions.rename("a", "A name");
  await place.log.append("session/a/inbox" as LogId, "any", [{ key: "late", type: "steer", data: { text: "late" } }]);
  await runner.sessions.fork("a", { id: "fork" });
  clock.advance(1000);
  await runner.run("in the fork", { session: "fork" }).outcome;
  return place;
}

const sessionsOf = ({ log, blobs }: Place) =>
  createRunner({ agent: createAgent({ name: "lead", model: scriptedModel([]) }), log, blobs }).sessions;

async function refusal(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => new Error("It resolved."),
    (reason: unknown) => reason,
  );
  if (!AgentError.is(error, "session")) throw error;
  return error.message;
}

describe("an exported session", () => {
  it("is the same where it is imported, with times, children, inbox and blobs, and exports the same lines", async () => {
    const place = await someSessions();
    const lines = await exported(place, "a");
    await using target = sqlite();
    const imported = await importSession(target, from(lines));
    // The result of a tool that was too long is in a blob.
    expect(imported).toMatchObject({ session: "a", keptTimes: true, blobs: 1, noBlobs: 0 });
    const [before, after] = [await sessionsOf(place).get("a"), await sessionsOf(target).get("a")];
    expect(after).toEqual(before);
    expect((await sessionsOf(target).list()).map(({ id, name }) => [id, name])).toEqual([["a", "A name"]]);
    expect((await target.log.list()).map(({ log, head }) => [log, head])).toEqual(
      (await place.log.list({ prefix: "session/a" })).filter(({ log }) => !log.endsWith("/snapshots")).map(({ log, head }) => [log, head]),
    );
    expect(await exported(target, "a")).toEqual(lines);
  });

  it("brings the history that it shares as a fork, which may be there already, and not as another session", async () => {
    const place = await someSessions();
    const lines = await exported(place, "fork");
    await using target = sqlite();
    await importSession(target, from(lines));
    expect((await sessionsOf(target).get("fork")).messages).toEqual((await sessionsOf(place).get("fork")).messages);
    expect(await exported(target, "fork")).toEqual(lines);
    // The whole of what it is a fork of goes on where that history ends.
    await importSession(target, from(await exported(place, "a")));
    expect((await sessionsOf(target).get("a")).messages).toEqual((await sessionsOf(place).get("a")).messages);
    await using other = sqlite();
    await sessionsOf(other).create({ id: "a" });
    expect(await refusal(importSession(other, from(lines)))).toMatch(/history with "a".*another session/);
  });

  it("is imported under another id with its children, unless a run of it is open", async () => {
    const place = await someSessions();
    const lines = await exported(place, "a");
    await using target = sqlite();
    await importSession({ ...target, id: "copy" }, from(lines));
    await importSession(target, from(lines));
    const [copy, own] = [await sessionsOf(target).get("copy"), await sessionsOf(target).get("a")];
    expect(copy.messages).toEqual(own.messages);
    const ids = (await sessionsOf(target).list({ children: true })).map(({ id }) => id).toSorted();
    expect(ids.filter((id) => id.startsWith("copy")).map((id) => id.replace("copy", "a"))).toEqual(
      ids.filter((id) => !id.startsWith("copy")),
    );
    expect(ids.length).toBeGreaterThan(2);
    await sessionsOf(target).delete("copy");
    expect((await sessionsOf(target).get("a")).messages).toEqual(own.messages);
    expect(JSON.stringify(await target.log.list())).not.toContain("copy");
  });

  it("goes on under its own id in another store where a run of it waits", async () => {
    const services = sharedServices();
    const agent = () =>
      createAgent({
        name: "asking",
        model: scriptedModel([{ toolCalls: [{ name: "send", input: {} }] }, "sent"].slice(asked++)),
        tools: [recordingTool("send")],
        permissions: { rules: [{ pattern: "send", behavior: "ask" }] },
      });
    let asked = 0;
    const { waits } = await createRunner({ agent: agent(), ...services }).run("go", { session: "s" }).outcome;
    const lines = await exported(services, "s");
    await using target = sqlite();
    await importSession(target, from(lines));
    expect(await refusal(importSession({ ...target, id: "copy" }, from(lines)))).toMatch(/"s" has a run that is not over/);
    const { clock, approvalKeys } = services;
    const runner = createRunner({ agent: agent(), log: target.log, blobs: target.blobs, clock, approvalKeys });
    for (const wait of waits ?? []) if (wait.type === "approval") await runner.approve(wait.token, { type: "allow" });
    expect(await (await runner.resume("s")).outcome).toMatchObject({ reason: "complete", text: "sent" });
  });

  it("moves to encrypted stores, whose digests are others, and from an old key to a new one", async () => {
    const place = await someSessions();
    const digest = await place.blobs.put(Buffer.from("an artifact"));
    await place.log.append(sessionLog("a"), await place.log.head(sessionLog("a")), [
      { key: "note", type: "note", data: { artifact: digest, other: `sha256:${"0".repeat(64)}` } },
    ]);
    const lines = await exported(place, "a");
    const [old, next] = [newKey(), newKey()];
    const encrypted = async (key: typeof old, content: readonly string[]): Promise<Place> => {
      const log = encryptEventLog(createSqliteEventLog(join(folder, `${++files}.db`)), { keys: createKeyRing({ current: key }) });
      const target = { log, blobs: log.blobs as BlobStore };
      expect(await importSession(target, from(content))).toMatchObject({ blobs: 2, noBlobs: 1, keptTimes: true });
      return target;
    };
    const first = await encrypted(old, lines);
    const second = await encrypted(next, await exported(first, "a"));
    const told = async (from: Place): Promise<string> =>
      JSON.stringify(await sessionsOf(from).get("a")).replaceAll(/sha256:[0-9a-f]{64}/g, "digest");
    expect(await told(second)).toEqual(await told(place));
    let artifact: string | undefined;
    for await (const { key, data } of second.log.read(sessionLog("a"))) if (key === "note") artifact = data["artifact"] as string;
    expect(artifact).toMatch(/^sha256:/);
    expect(artifact).not.toBe(digest);
    expect(Buffer.from(await second.blobs.get(artifact as typeof digest)).toString()).toBe("an artifact");
    for (const { log } of [first, second]) await log[Symbol.asyncDispose]();
  });

  it("is refused with the line where anything in it was changed, moved, added, left out or cut off, and nothing is written", async () => {
    const place = memory();
    await sessionsOf(place).create({ id: "small" });
    const digest = await place.blobs.put(Buffer.alloc(300_000, "abc"));
    await place.log.append(sessionLog("small"), 1, [{ key: "note", type: "note", data: { digest } }]);
    await place.log.append("session/small/inbox" as LogId, 0, [{ key: "late", type: "steer", data: { text: "late" } }]);
    const lines = await exported(place, "small");
    expect(lines).toHaveLength(7);
    const changes: { readonly [what: string]: (at: number) => readonly [changed: readonly string[], line: number] } = {
      "a character": (at) => {
        const line = lines[at] as string;
        const place = Math.floor(line.length / 2);
        return [lines.with(at, `${line.slice(0, place)}${line[place] === "x" ? "y" : "x"}${line.slice(place + 1)}`), at + 1];
      },
      "left out": (at) => [lines.toSpliced(at, 1), at + 1],
      "twice": (at) => [lines.toSpliced(at, 0, lines[at] as string), at + 2],
      "cut off": (at) => [lines.slice(0, at), at + 1],
      "cut in the middle": (at) => [lines.with(at, (lines[at] as string).slice(0, -3)).slice(0, at + 1), at + 1],
    };
    const target = memory();
    for (const [what, change] of Object.entries(changes))
      for (let at = 0; at < lines.length; at++) {
        const [changed, line] = change(at);
        const message = await refusal(importSession(target, from(changed, 100_000)));
        // Without its last line the export is whole but for that.
        if (changed.length === 0) expect(message, what).toContain("ends at line 0");
        else expect(message, `${what} at ${at + 1}`).toMatch(new RegExp(`^Line ${line} of|ends at line ${line - 1} `));
      }
    expect(await target.log.list()).toEqual([]);
    expect(await refusal(importSession(target, from(['{"type":"other"}\n'])))).toMatch(/^Line 1 .*no line of an exported session/);
    const later = (lines[0] as string).replace('"v":1', '"v":2');
    expect(await refusal(importSession(target, from([later])))).toContain("Line 1");
  });

  it("is made whole by importing again where that was cut off, and left alone where it went on", async () => {
    const place = await someSessions();
    const lines = await exported(place, "a");
    for (const fails of [0, 2, 5]) {
      const target = memory();
      let left = fails;
      const failing: EventLog = {
        ...target.log,
        async append(...request) {
          if (left-- === 0) throw new LogError({ kind: "unavailable", message: "the disk went away" });
          return target.log.append(...request);
        },
      };
      const first = await importSession({ ...target, log: failing }, from(lines)).catch((error: unknown) => error);
      expect((first as Error).message).toContain("the disk went away");
      await importSession(target, from(lines));
      expect(await exported(target, "a")).toEqual(lines);
    }
    const target = memory();
    await importSession(target, from(lines));
    expect(await importSession(target, from(lines))).toMatchObject({ records: 0 });
    await sessionsOf(target).rename("a", "Another");
    expect(await refusal(importSession(target, from(lines)))).toMatch(/"a" already.*left as it is/);
    expect((await sessionsOf(target).get("a")).metadata.name).toBe("Another");
  });

  it("is written as it is read: a line is there before the records behind it are asked for", async () => {
    const place = memory();
    await sessionsOf(place).create({ id: "long" });
    let head = await place.log.head(sessionLog("long"));
    for (let n = 0; n < 20; n++)
      head = (
        await place.log.append(
          sessionLog("long"),
          head,
          Array.from({ length: 100 }, (_, k) => ({ key: `${n}/${k}`, type: "note", data: { n } })),
        )
      ).seq;
    let asked = 0;
    const counting: EventLog = {
      ...place.log,
      async *read(...request) {
        for await (const record of place.log.read(...request)) {
          asked++;
          yield record;
        }
      },
    };
    let [lines, folded] = [0, 0];
    for await (const _line of exportSession({ ...place, log: counting }, "long")) {
      if (lines++ === 0) folded = asked;
      else expect(asked - folded).toBeLessThan(lines + 3);
    }
    expect(lines).toBe(head + 2);
  });
});
