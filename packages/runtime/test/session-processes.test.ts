import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RecordedEvent } from "@keelson/protocol";
import { createAgent, createRunner, type SingleRunner } from "keelson";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { afterAll, describe, expect, it } from "vitest";

const folder = await mkdtemp(join(tmpdir(), "keelson-sessions-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

/** Another process that works a run, and this one beside it on the same file. */
interface Scene extends AsyncDisposable {
  readonly runner: SingleRunner;
  /** The next line that the other process prints. */
  line(): Promise<string>;
  /** What ended it. */
  readonly exit: Promise<unknown>;
}

async function scene(): Promise<Scene> {
  const path = join(folder, `${++count}.db`);
  const program = new URL("./processes/work-session.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=source", program, path], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, "close").then(([code]) => code as unknown);
  const line = async (): Promise<string> => (await lines.next()).value as string;
  expect(await line()).toBe("First so far");
  const log = createSqliteEventLog({ path });
  const blobs = createSqliteBlobStore({ path });
  return {
    runner: createRunner({ agent: createAgent({ name: "a", model: scriptedModel([]) }), log, blobs }),
    line,
    exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
      await blobs[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

describe("a run that another process works", { timeout: 60_000 }, () => {
  it("is watched, steered and stopped from here, as it would be there [RN-04]", async () => {
    await using there = await scene();
    const { runner } = there;
    const leaving = new AbortController();
    const seen: RecordedEvent[] = [];
    const watching = (async () => {
      for await (const event of runner.sessions.events("s", { follow: true, signal: leaving.signal })) {
        seen.push(event);
        if (event.type === "run-complete") leaving.abort();
      }
    })();
    await runner.steer("s", "Rather this.", { interrupt: true });
    expect(await there.line()).toBe("Second so far");
    await runner.stop("s");
    expect(JSON.parse(await there.line())).toEqual({ reason: "stopped", text: "Second so far" });
    expect(await there.exit).toBe(0);
    await watching;
    const all: RecordedEvent[] = [];
    for await (const event of runner.sessions.events("s")) all.push(event);
    expect(seen).toEqual(all);
    expect(seen.map(({ type }) => type)).toEqual(expect.arrayContaining(["run-start", "steer", "retry", "message", "run-complete"]));
    await expect(runner.stop("s")).rejects.toThrow(/run of session "s" is over: nothing reaches it any more/);
  });

  it("is aborted from here, and keeps what it said [RN-05]", async () => {
    await using there = await scene();
    await there.runner.abort("s", "enough");
    expect(JSON.parse(await there.line())).toEqual({ reason: "aborted", text: "First so far" });
    expect((await there.runner.sessions.get("s")).messages.at(-1)).toMatchObject({ role: "assistant", cut: true });
  });

  it("is watched from where somebody left, and what it does meanwhile is not missed", async () => {
    await using there = await scene();
    const { runner } = there;
    let after = 0;
    const seqs: number[] = [];
    const take = async (most: number): Promise<void> => {
      const leaving = new AbortController();
      for await (const event of runner.sessions.events("s", { follow: true, after, signal: leaving.signal })) {
        if (!("seq" in event)) continue;
        after = event.seq as number;
        seqs.push(after);
        if (--most === 0 || event.type === "run-complete") return leaving.abort();
      }
    };
    await take(1);
    await runner.abort("s");
    for (;;) {
      await take(1);
      const { run } = await runner.sessions.get("s");
      if (run?.status === "ended") break;
    }
    await take(1_000);
    const all: number[] = [];
    for await (const event of runner.sessions.events("s")) if ("seq" in event) all.push(event.seq as number);
    expect(seqs).toEqual(all);
  });

  it("can't be told anything that is nothing: no session, no message", async () => {
    await using there = await scene();
    await expect(there.runner.steer("other", "hi")).rejects.toThrow(/no session "other"/);
    await expect(there.runner.steer("s", { role: "assistant", content: [] })).rejects.toThrow(
      /steer takes a message of the role user or system/,
    );
  });
});
