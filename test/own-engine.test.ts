// #region contract
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describeEngine } from "keelson/testing/contracts";
import { openScenarios } from "./own-engine-services.ts";

const script = fileURLToPath(new URL("own-engine-worker.ts", import.meta.url));

describeEngine("a table of due sessions with two workers", async (directory) => {
  const { services, runner, table, log } = openScenarios(directory);
  const workers = ["first", "second"].map((name) =>
    spawn(process.execPath, ["--conditions=source", script, directory, name], { stdio: ["ignore", "inherit", "inherit"] }),
  );
  return {
    services,
    async begin(session, input, options) {
      await runner.begin(session, input, options);
      table.wake(session as Parameters<typeof table.wake>[0]);
    },
    wake: async (session) => table.wake(session as Parameters<typeof table.wake>[0]),
    async close() {
      for (const worker of workers) worker.kill("SIGTERM");
      await Promise.all(workers.map((worker) => once(worker, "exit")));
      table.close();
      await log[Symbol.asyncDispose]();
    },
  };
});
// #endregion
