import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { processesBelow } from "./process-table.ts";

/** Works until it used the CPU for a fifth of a second, prints its use and its age in microseconds, and then waits. */
const WORK = `
while (process.cpuUsage().user + process.cpuUsage().system < 200_000);
const { user, system } = process.cpuUsage();
console.log(user + system, Math.round(process.uptime() * 1e6));
process.stdin.resume();`;

describe("processesBelow", () => {
  it("reports the CPU seconds that a process used per second of its life", async () => {
    const child = spawn(process.execPath, ["-e", WORK], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
      const [info] = await processesBelow([{ pid: child.pid as number, mark: "" }]);
      const [used = 0, age = 0] = line.split(" ").map(Number);
      // The process is older when it is listed: at most the ratio of its own account, and more than a tenth of it on a busy machine.
      expect(info?.cpuRatio).toBeLessThan((used / age) * 1.1 + 0.05);
      expect(info?.cpuRatio).toBeGreaterThan((used / age) * 0.1);
      expect(info?.memoryBytes).toBeGreaterThan(10 * 1024 * 1024);
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("lists nothing of a process that ended", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    expect(await processesBelow([{ pid: child.pid as number, mark: "" }])).toEqual([]);
  });
});
