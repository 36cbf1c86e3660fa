import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@keelson/protocol";
import { createFsStore, createSqliteStore } from "keelson/state";
import { afterAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { randomNumbers } from "../processes/random-numbers.ts";

const ROUNDS = sampleSize("kills of two processes that write to a state store", { test: 2, ci: 6, soak: 500 });
const SCOPE: Scope = { type: "global" };
const folder = await mkdtemp(join(tmpdir(), "keelson-state-processes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const STORES = {
  file: (path: string) => createFsStore(path),
  sqlite: (path: string) => createSqliteStore({ path, durability: "process" }),
};

/** What a writer said before it was killed: the last round of its own keys, and how often it counted. */
async function writeUntilKilled(
  kind: string,
  path: string,
  writer: string,
  from: number,
  lines: number,
): Promise<{ own: number; counted: number }> {
  const program = join(import.meta.dirname, "../processes/write-until-killed.ts");
  const child = spawn(process.execPath, ["--conditions=source", program, kind, path, writer, String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > lines) child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
  const whole = said.split("\n").slice(0, -1);
  return {
    own: Number(whole.findLast((line) => line.startsWith("own "))?.slice(4) ?? from - 1),
    counted: whole.filter((line) => line === "counted").length,
  };
}

describe.each(["file", "sqlite"] as const)("a state store of kind %s that two processes write to", (kind) => {
  it(
    "keeps each write that was resolved, and none in part, whenever they are killed [ST-01, ST-09]",
    { timeout: 30_000 + ROUNDS * 5_000 },
    async () => {
      const random = randomNumbers(seed);
      const path = join(folder, kind);
      const next = { a: 0, b: 0 };
      let least = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const told = await Promise.all(
          (["a", "b"] as const).map(async (writer) => ({
            writer,
            ...(await writeUntilKilled(kind, path, writer, next[writer], 1 + Math.floor(random() * 60))),
          })),
        );
        await using store = STORES[kind](path);
        for (const { writer, own, counted } of told) {
          least += counted;
          // What was on its way may be there or not; what was said is.
          let last = -1;
          for (let slot = 0; slot < 5; slot++) {
            const kept = (await store.read(SCOPE, `${writer}/${slot}`))?.value as { round: number; fill: string } | undefined;
            if (kept === undefined) continue;
            expect(kept.fill).toBe(`${"x".repeat(20_000)}${kept.round}`);
            expect(kept.round % 5).toBe(slot);
            last = Math.max(last, kept.round);
          }
          expect(last).toBeGreaterThanOrEqual(own);
          expect(last).toBeLessThanOrEqual(own + 1);
          next[writer] = last + 1;
        }
        const count = Number((await store.read(SCOPE, "count"))?.value ?? 0);
        expect(count).toBeGreaterThanOrEqual(least);
        expect(count).toBeLessThanOrEqual(least + 2);
        least = count;
        expect((await store.list(SCOPE, "")).length).toBeLessThanOrEqual(12);
        // The next round's writers are not kept out by what the last one's left.
        expect(await store.write(SCOPE, "after", round)).toBe(round + 1);
      }
      if (kind === "file") expect(readdirSync(join(path, "global")).filter((name) => name === ".lock")).toEqual([]);
    },
  );
});
