import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const FLOOD_BYTES = 100_000_000;
const BOUND_BYTES = 48 * 1024 * 1024;

/** In a process that would not live to tell if it kept what it is flooded with. */
async function flooded(behaviour: string): Promise<{ readonly most: number; readonly ended: string; readonly notices: number }> {
  const program = fileURLToPath(new URL("flooded-process.ts", import.meta.url));
  const args = [
    "--conditions=source",
    "--expose-gc",
    "--max-semi-space-size=4",
    "--max-old-space-size=64",
    program,
    behaviour,
    String(FLOOD_BYTES),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof flooded>>;
}

describe("a flood of 100 MB takes no more than half of that in memory", () => {
  it.each([
    ["of messages", "floods", "transport"],
    ["of answers to nothing", "floods-with-answers", "transport"],
    ["of words beside", "writes-much-beside", "answered"],
    ["over HTTP", "http", "transport"],
  ])(
    "%s",
    async (_, behaviour, ending) => {
      const { most, ended, notices } = await flooded(behaviour);
      expect(ended).toBe(ending);
      expect(most).toBeLessThan(BOUND_BYTES);
      if (behaviour === "floods" || behaviour === "http") expect(notices).toBeGreaterThan(1500);
    },
    60_000,
  );
});
