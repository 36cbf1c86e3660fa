import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describeEngine } from "keelson/testing/contracts";
import { ENGINE_SCENARIOS, type CreateScenarioEngine } from "keelson/testing/engines";
import { describe } from "vitest";
import { openRestateEngine } from "./support/restate-engine.ts";
import { startRestateServer } from "./support/restate-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";
import { startWorker } from "./support/worker-process.ts";

/** One server and one worker for all scenarios. */
function openOnServer({ childrenInside }: { readonly childrenInside: boolean }): CreateScenarioEngine {
  return async (directory) => {
    const folder = join(directory, "restate");
    await mkdir(folder);
    const server = await startRestateServer(folder);
    const where = ["--directory", directory, "--ingress", server.ingress];
    const worker = await startWorker("scenario-worker.ts", childrenInside ? [...where, "--children-inside"] : where);
    await server.register(worker.url);
    const engine = openRestateEngine(directory, server.ingress, "keelson", { childrenInside });
    return {
      ...engine,
      async close() {
        await engine.close();
        await worker.kill();
        await server.kill();
      },
    };
  };
}

describe.skipIf(isWithoutServer)(`on a server of Restate${needsServer}`, () => {
  describeEngine("Restate, with children as sessions of their own,", openOnServer({ childrenInside: false }));
  describeEngine("Restate, with children inside of their parents' turns,", openOnServer({ childrenInside: true }), {
    scenarios: ENGINE_SCENARIOS.filter(({ about }) => about === "children" || about === "approvals"),
  });
});
