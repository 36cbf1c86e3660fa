import { operatorInput } from "keelson/orchestration";
import type { RunId, SessionId } from "@keelson/protocol";
import { createRestateOrchestrator } from "@keelson/restate";
import type { ScenarioEngine } from "keelson/testing/engines";
import { openServices } from "./open-services.ts";

/** Sessions of a directory, worked by whoever serves this name at a Restate server. */
export function openRestateEngine(directory: string, ingress: string, name: string): ScenarioEngine {
  const services = openServices(directory);
  const orchestrator = createRestateOrchestrator({ ingress, name });
  return {
    services: { ...services, orchestrator },
    async begin(session, input, { agent, id }) {
      await orchestrator.start(agent, operatorInput(input, "user", { session: session as SessionId }), { id: id as RunId });
    },
    wake: (session) => orchestrator.wake(session as SessionId),
    close: async () => services[Symbol.asyncDispose](),
  };
}
