import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readCommandLine } from "../../src/environment/index.ts";

const program = fileURLToPath(new URL("../processes/read-command-lines.ts", import.meta.url));

afterEach(() => vi.unstubAllGlobals());

describe("reading command lines", () => {
  it("needs no WebAssembly, whose optimisation once took half a gigabyte", async () => {
    vi.stubGlobal("WebAssembly", undefined);
    const { unknown, commands } = await readCommandLine('for f in *; do cat "$f" | head -5; done && git status', { cwd: "/project" });
    expect(unknown).toBeUndefined();
    expect(commands).toHaveLength(3);
  });

  it("leaves the peak of a process with 300 compound commands far below 300 MiB", { timeout: 60_000 }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", program]);
    expect(Number(stdout)).toBeGreaterThan(20);
    expect(Number(stdout)).toBeLessThan(300);
  });
});
