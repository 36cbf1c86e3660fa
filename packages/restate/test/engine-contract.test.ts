import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { describeEngine } from "keelson/testing/contracts";
import { describe } from "vitest";
import { openRestateEngine } from "./support/restate-engine.ts";
import { startRestateServer } from "./support/restate-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";
import { startWorker } from "./support/worker-process.ts";

describe.skipIf(isWithoutServer)(`on a server of Restate${needsServer}`, () => {
  describeEngine("Restate, with workers in processes of their own,", async (directory) => {
    await mkdir(join(directory, "restate"));
    const server = await startRestateServer(join(directory, "restate"));
    const worker = await startWorker("scenario-worker.ts", ["--directory", directory, "--ingress", server.ingress]);
    await server.register(worker.url);
    const engine = openRestateEngine(directory, server.ingress, "keelson");
    return {
      ...engine,
      async close() {
        await engine.close();
        await worker.kill();
        await server.kill();
      },
    };
  });
});
