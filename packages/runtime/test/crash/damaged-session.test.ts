import { cp, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type JsonObject, KeelsonError, LogError, type SessionId, sessionLog } from "@keelson/protocol";
import { expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { finish } from "./finish.ts";
import { createPoints } from "./points.ts";
import { liveInProcess, withFolder } from "./scenario-child.ts";
import { openFolder } from "./scenario-folder.ts";
import { openScenario, SESSION } from "./scenario.ts";
import { sideEffectsInMemory } from "./side-effects.ts";
import { simulatedWorld, undisturbed } from "./simulated-lives.ts";

const { passed } = await undisturbed();

/** How a run was opened again and what came of it: an ending, or the kind of a typed error. */
async function reopened(folder: string): Promise<string> {
  try {
    await using world = openFolder(folder, { points: createPoints() });
    const { outcome } = await finish(world.runner, world.log, world.effects);
    return outcome.error === undefined ? outcome.reason : `error/${outcome.error.failure.kind}`;
  } catch (error) {
    if (error instanceof KeelsonError) return `thrown/${error.failure.kind}`;
    throw error;
  }
}

it("opens a session whose file was cut short or scribbled over, or says in a typed error that it can't", { timeout: 120_000 }, async () => {
  await withFolder(async (base) => {
    await liveInProcess(base);
    const whole = await readFile(join(base, "sessions.db"));
    const random = randomNumbers(seed);
    const came = new Map<string, number>();
    const count = sampleSize("damages to a session's file", { test: 40, ci: 400, soak: 4_000 });
    for (let index = 0; index < count; index++) {
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
            "error/backend",
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
  const world = simulatedWorld();
  await world.live(passed.find((place) => place.startsWith("pay/")) ?? "");
  const id = sessionLog(SESSION as SessionId);
  const records: { readonly key: string; readonly type: string; readonly data: JsonObject }[] = [];
  for await (const { key, type, data } of world.log.read(id)) records.push({ key, type, data });
  // In the place of the first record of this type, one that says nothing of what it should.
  for (const [type, as] of [
    ["run-start", "turn-start"],
    ["message", "message"],
    ["usage", "usage"],
  ] as const) {
    const index = records.findIndex((record) => record.type === type);
    const log = createMemoryEventLog();
    const seq = await log.append(
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
