import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { sample } from "../crash/sample.ts";
import { inParallel, withFolder } from "../crash/scenario-child.ts";
import { sideEffectsFile } from "../crash/side-effects.ts";

/** Before and after what its tools do. */
const IN_THE_SERVER = ["price", "before", "after"];

interface Life {
  readonly reason: string;
  readonly text: string;
  readonly unknown: readonly string[];
  readonly passed: readonly string[];
}

/** `undefined` when it was killed. */
async function live(folder: string, killAt = ""): Promise<Life | undefined> {
  const program = join(import.meta.dirname, "pay-until-killed.ts");
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", program, folder, killAt], {
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "keelson-crash-compile-cache") },
    });
    return JSON.parse(stdout) as Life;
  } catch (error) {
    if ((error as { readonly signal?: string }).signal === "SIGKILL") return undefined;
    throw error;
  }
}

it(
  "a run whose tools are a server's is killed at each boundary, and within the server's calls: nothing is paid twice, and nobody is asked without need",
  { timeout: 300_000 },
  async () => {
    const whole = await withFolder(async (folder) => live(folder));
    expect(whole).toMatchObject({ reason: "complete", text: "Paid.", unknown: [] });
    const boundaries = whole?.passed ?? [];
    expect(boundaries.length).toBeGreaterThan(10);
    const all = boundaries.length;
    const places = [
      ...sample(boundaries, sampleSize(`${all} boundaries of a run with a server`, { test: 6, ci: 20, soak: all })),
      ...IN_THE_SERVER,
    ];
    const faults: string[] = [];
    const asked: string[] = [];
    await inParallel(places, (killAt) =>
      withFolder(async (folder) => {
        if ((await live(folder, killAt)) !== undefined) faults.push(`${killAt}: it was not killed`);
        const life = await live(folder);
        if (life?.reason !== "complete" || life.text !== "Paid.") faults.push(`${killAt}: it ended with ${life?.reason}: ${life?.text}`);
        if ((life?.unknown.length ?? 0) > 0) asked.push(killAt);
        const paid = sideEffectsFile(join(folder, "effects.jsonl")).read();
        if (paid.length !== 1) faults.push(`${killAt}: it was paid ${paid.length} times`);
      }),
    );
    expect(faults).toEqual([]);
    // Only where the call was under way can nobody know. A read is made again.
    expect(asked).toEqual(expect.arrayContaining(["before", "after"]));
    expect(asked).not.toContain("price");
    expect(asked.length).toBeLessThan(6);
  },
);
