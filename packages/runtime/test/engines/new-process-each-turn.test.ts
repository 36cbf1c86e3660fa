import { describeEngine } from "keelson/testing/contracts";
import { ENGINE_SCENARIOS } from "keelson/testing/engines";
import { sampleSize } from "../../../../test/tier.ts";
import { sample } from "../crash/sample.ts";
import { advanceInProcess } from "./advance-in-process.ts";
import { openAdvancingEngine } from "./advancing-engine.ts";
import { openSqliteServices } from "./sqlite-services.ts";

const count = sampleSize("scenarios of which each turn is worked in a new process", { test: 5, ci: 10, soak: ENGINE_SCENARIOS.length });

for (const childrenApart of [false, true]) {
  describeEngine(
    `advance in a new process for each turn, with children ${childrenApart ? "apart from their parents" : "inside of their parents' turns"},`,
    async (directory) => {
      const services = openSqliteServices(directory);
      return openAdvancingEngine({
        services,
        childrenApart,
        advance: (_runner, wake) => (session) => advanceInProcess(directory, session, { childrenApart, wake }),
        close: async () => services[Symbol.asyncDispose](),
      });
    },
    { scenarios: sample(ENGINE_SCENARIOS, count), timeoutMs: 60_000 },
  );
}
