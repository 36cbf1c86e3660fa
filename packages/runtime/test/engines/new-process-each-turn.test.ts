import { describeEngine } from "keelson/testing/contracts";
import { advanceInProcess } from "./advance-in-process.ts";
import { openAdvancingEngine } from "./advancing-engine.ts";
import { openSqliteServices } from "./sqlite-services.ts";

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
  );
}
