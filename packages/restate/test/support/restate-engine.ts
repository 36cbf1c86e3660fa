import { operatorInput } from "keelson/orchestration";
import type { RunId, SessionId } from "@keelson/protocol";
import { createRestateOrchestrator } from "@keelson/restate";
import type { ScenarioEngine } from "keelson/testing/engines";
import { openServices } from "./open-services.ts";

/**
 * Sessions of a directory, worked by whoever serves this name at a Restate server.
 *
 * @param options.childrenInside the runners of the workers have no orchestrator, so that children work within the turns of their parents
 */
export function openRestateEngine(
  directory: string,
  ingress: string,
  name: string,
  { childrenInside = false }: { readonly childrenInside?: boolean } = {},
): ScenarioEngine {
  const services = openServices(directory);
  const orchestrator = createRestateOrchestrator({ ingress, name });
  return {
    services: { ...services, ...(!childrenInside && { orchestrator }) },
    async begin(session, input, { agent, id }) {
      await orchestrator.start(agent, operatorInput(input, "user", { session: session as SessionId }), { id: id as RunId });
    },
    wake: (session) => orchestrator.wake(session as SessionId),
    close: async () => services[Symbol.asyncDispose](),
  };
}
