// #region engine
import { createRunner, type Agent, type SingleRunner } from "keelson";
import { createDurableOrchestrator } from "keelson/orchestration";
import { createSqliteEventLog } from "keelson/state";
import { DueTable } from "./due-table.ts";

/** What every process opens: whoever starts runs, and the workers. */
export function openEngine(folder: string, agent: Agent) {
  const log = createSqliteEventLog({ path: `${folder}/sessions.db` });
  const table = new DueTable(`${folder}/due.db`);
  const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (session) => table.wake(session) });
  const runner: SingleRunner = createRunner({ agent, log, orchestrator });
  return { runner, orchestrator, table };
}
// #endregion
