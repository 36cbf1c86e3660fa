import { createDurableOrchestrator } from "keelson/orchestration";
import { createSqliteEventLog } from "keelson/state";
import { createScenarioRunner, scenarioClock, type ScenarioServices } from "keelson/testing/engines";
import { DueTable } from "../examples/own-engine/due-table.ts";

/** What each process of the engine opens, over the agents of the scenarios. */
export function openScenarios(directory: string) {
  const log = createSqliteEventLog({ path: `${directory}/sessions.db`, now: () => scenarioClock(directory).now() });
  const table = new DueTable(`${directory}/due.db`);
  const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (session) => table.wake(session) });
  const services: ScenarioServices = { log, blobs: log.blobs, ledger: log.ledger, directory, orchestrator };
  const runner = createScenarioRunner(services);
  return { services, runner, table, log };
}
