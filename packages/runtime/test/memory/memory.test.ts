import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";

const MIB = 1024 * 1024;
const FLOOD_BYTES = 200 * MIB;
const ABORTED_RUNS = sampleSize("runs that are aborted", { test: 300, ci: 500, soak: 5_000 });
const LONG_SESSION_TURNS = sampleSize("turns of a long session", { test: 400, ci: 2_000, soak: 10_000 });
/** What optimised code takes grows for thousands of runs, and is no run's. */
const WITHOUT_OPTIMISED_CODE = ["--expose-gc", "--no-opt", "--no-maglev", "--no-sparkplug"];

let server: ChildProcess;
let url = "";
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-memory-"));
  server = spawn(process.execPath, ["--conditions=source", programOf("flood-server")], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(server.stdout as NonNullable<typeof server.stdout>, "data")) as [Buffer];
  url = `http://127.0.0.1:${String(port).trim()}`;
});
afterAll(() => {
  server.stdin?.end();
  rmSync(folder, { recursive: true });
});

function programOf(name: string): string {
  return new URL(`./${name}.ts`, import.meta.url).pathname;
}

/** Runs a program of this folder to its end. @returns what it says */
async function ask<T>(flags: readonly string[], name: string, ...args: readonly (string | number)[]): Promise<T> {
  const child = spawn(process.execPath, [...flags, "--conditions=source", programOf(name), ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += String(data)));
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(0);
  return JSON.parse(said) as T;
}

describe("memory", () => {
  for (const wire of ["anthropic", "openai"]) {
    it(
      `holds less than 200 MiB while a response of 200 MiB is streamed over the ${wire} wire and discarded`,
      { timeout: 120_000 },
      async () => {
        const { characters, last, maxRssBytes } = await ask<{ characters: number; last: string; maxRssBytes: number }>(
          [],
          "discard-stream",
          wire,
          `${url}/${FLOOD_BYTES}`,
        );
        expect(characters).toBeGreaterThan(0.8 * FLOOD_BYTES);
        expect(last).toBe("end");
        expect(maxRssBytes).toBeLessThan(200 * MIB);
      },
    );

    it(`ends a run whose response is that long with max-output, over the ${wire} wire`, { timeout: 120_000 }, async () => {
      const { reason, length, events, maxRssBytes } = await ask<{ reason: string; length: number; events: number; maxRssBytes: number }>(
        [],
        "run-flood",
        wire,
        `${url}/${FLOOD_BYTES}`,
      );
      expect(reason).toBe("max-output");
      expect(length).toBeLessThanOrEqual(16 * MIB);
      expect(length).toBeGreaterThan(15 * MIB);
      expect(events).toBeGreaterThan(15_000);
      // The response stands in the message and in the result, each kept in full by stores that live in this memory.
      expect(maxRssBytes).toBeLessThan(600 * MIB);
    });
  }

  for (const where of ["memory", "sqlite"]) {
    it(
      `of aborted runs does not stay, nor do their sockets and timers, with the log in ${where} [RN-05]`,
      { timeout: 300_000 },
      async () => {
        const place = where === "memory" ? where : folder;
        const { bytesPerRun, open } = await ask<{ bytesPerRun: number; open: readonly string[] }>(
          WITHOUT_OPTIMISED_CODE,
          "abort-runs",
          url,
          seed,
          200,
          ABORTED_RUNS,
          place,
        );
        expect(open).toEqual([]);
        expect(bytesPerRun).toBeLessThan(512);
      },
    );
  }

  it("of a long session grows by its conversation, whoever watches and never reads", { timeout: 300_000 }, async () => {
    const { reason, turns, grownBytes, conversationBytes } = await ask<{
      reason: string;
      turns: number;
      grownBytes: number;
      conversationBytes: number;
    }>(WITHOUT_OPTIMISED_CODE, "long-session", folder, LONG_SESSION_TURNS);
    expect(reason).toBe("max-turns");
    expect(turns).toBe(LONG_SESSION_TURNS);
    expect(grownBytes).toBeLessThan(1.5 * conversationBytes + 256 * 1024);
  });

  it("of 96 MiB is enough for a session of thousands of turns with a window of 200 messages", { timeout: 900_000 }, async () => {
    const { reason, turns, longest, left, request } = await ask<{
      reason: string;
      turns: number;
      longest: number;
      left: number;
      request: unknown;
    }>(["--max-old-space-size=96"], "window-session", folder, LONG_SESSION_TURNS);
    expect(reason).toBe("max-turns");
    expect(turns).toBe(LONG_SESSION_TURNS);
    expect(longest).toBeLessThanOrEqual(200);
    expect(left).toBeLessThanOrEqual(202);
    expect(request).toMatchObject({ role: "user", content: [{ text: "Read it all." }] });
  });
});
