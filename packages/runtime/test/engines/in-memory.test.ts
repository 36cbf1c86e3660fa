import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "keelson/state";
import { describeEngine } from "keelson/testing/contracts";
import { scenarioClock, type ScenarioEngine } from "keelson/testing/engines";
import { openAdvancingEngine } from "./advancing-engine.ts";

for (const childrenApart of [false, true]) {
  describeEngine(
    `advance in memory, with children ${childrenApart ? "apart from their parents" : "inside of their parents' turns"},`,
    async (directory): Promise<ScenarioEngine> => {
      const clock = scenarioClock(directory);
      const log = createMemoryEventLog({ now: () => clock.now() });
      return openAdvancingEngine({
        services: { directory, log, blobs: createMemoryBlobStore(), ledger: createMemoryBudgetLedger() },
        childrenApart,
        advance: (runner) => async (session) => (await runner.advance(session)).next,
        close: async () => log[Symbol.asyncDispose](),
      });
    },
  );
}
