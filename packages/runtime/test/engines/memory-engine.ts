import type { EventLog } from "@keelson/protocol";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { scenarioClock, type CreateScenarioEngine } from "keelson/testing/engines";
import { openAdvancingEngine } from "./advancing-engine.ts";

/** Advances sessions in this process, with everything in memory. @param through what its runner sees of the log */
export function memoryEngine(
  childrenApart: boolean,
  through: (log: EventLog, directory: string) => EventLog = (log) => log,
): CreateScenarioEngine {
  return async (directory) => {
    const clock = scenarioClock(directory);
    const log = createMemoryEventLog({ now: () => clock.now() });
    return openAdvancingEngine({
      services: { directory, log: through(log, directory), blobs: createMemoryBlobStore(), ledger: createMemoryBudgetLedger() },
      childrenApart,
      advance: (runner) => async (session) => (await runner.advance(session)).next,
      close: async () => log[Symbol.asyncDispose](),
    });
  };
}
