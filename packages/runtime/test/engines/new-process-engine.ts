import type { CreateScenarioEngine } from "keelson/testing/engines";
import { advanceInProcess } from "./advance-in-process.ts";
import { openAdvancingEngine } from "./advancing-engine.ts";
import { openSqliteServices } from "./sqlite-services.ts";

/** Works each turn in a process of its own, on SQLite. @param more arguments of these processes */
export function newProcessEngine(childrenApart: boolean, more: readonly string[] = []): CreateScenarioEngine {
  return async (directory) => {
    const services = openSqliteServices(directory);
    return openAdvancingEngine({
      services,
      childrenApart,
      advance: (_runner, wake) => (session) => advanceInProcess(directory, session, { childrenApart, wake, more }),
      close: async () => services[Symbol.asyncDispose](),
    });
  };
}
