import type { EventLog } from "@keelson/protocol";
import { createDurableOrchestrator } from "keelson/orchestration";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { createScenarioRunner, scenarioClock, type CreateScenarioEngine } from "keelson/testing/engines";
import { openAdvancingEngine } from "./advancing-engine.ts";

/** Advances sessions in this process, with everything in memory. @param through what whoever advances them sees of the log */
export function memoryEngine(
  childrenApart: boolean,
  through: (log: EventLog, directory: string) => EventLog = (log) => log,
): CreateScenarioEngine {
  return async (directory) => {
    const clock = scenarioClock(directory);
    const log = createMemoryEventLog({ now: () => clock.now() });
    const services = { directory, log, blobs: createMemoryBlobStore(), ledger: createMemoryBudgetLedger() };
    return openAdvancingEngine({
      services,
      childrenApart,
      advance(_runner, wake) {
        const orchestrator = createDurableOrchestrator({ runner: () => worker, wake });
        const worker = createScenarioRunner({ ...services, log: through(log, directory), ...(childrenApart && { orchestrator }) });
        return async (session) => (await worker.advance(session)).next;
      },
      close: async () => log[Symbol.asyncDispose](),
    });
  };
}
