import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createSandboxExecutor } from "../../src/environment/sandbox/sandbox-executor.ts";
import { describeExecutor } from "../../src/testing/executor-contract.ts";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

const workspace = mkdtempSync(join(tmpdir(), "keelson-sandbox-executor-"));
afterAll(() => rmSync(workspace, { recursive: true }));

describeWithBubblewrap("in a sandbox", () => {
  describeExecutor("the sandbox executor", {
    create: () => createSandboxExecutor({ filesystem: { writableRoots: ["."] } }, { workspace }),
    terminals: false,
  });

  it("jobs end when the process that started them is killed", { timeout: 30_000 }, async () => {
    const module = new URL("../../src/environment/sandbox/sandbox-executor.ts", import.meta.url).href;
    const script = `import { createSandboxExecutor } from ${JSON.stringify(module)};
      const executor = createSandboxExecutor({}, { workspace: ${JSON.stringify(workspace)} });
      const { id } = await executor.jobs.start({ command: "setsid sleep 304 & sleep 305 & echo up; wait" });
      await executor.jobs.poll(id, { waitMs: 20_000 });
      console.log((await executor.processes()).map(({ pid }) => pid).join(" "));
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pids] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    await once(child, "close");
    const started = String(pids).trim().split(" ").map(Number);
    expect(started.length).toBeGreaterThan(3);
    for (const pid of started) while (isThere(pid)) await new Promise(setImmediate);
  });
});

function isThere(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
