import { createEndpointHandler, type LoggerTransport } from "@restatedev/restate-sdk";
import type { AnyRunner } from "keelson/orchestration";
import { orchestratorService, type OrchestratorServiceOptions } from "./orchestrator-service.ts";
import { sessionObject, type SessionObjectOptions } from "./session-object.ts";

export interface EndpointHandlerOptions extends SessionObjectOptions, OrchestratorServiceOptions {
  readonly identityKeys: readonly string[] | undefined;
  readonly logger: LoggerTransport | undefined;
}

/** What answers the requests of Restate. */
export function endpointHandler(
  runner: AnyRunner,
  { identityKeys, logger, ...options }: EndpointHandlerOptions,
): ReturnType<typeof createEndpointHandler> {
  return createEndpointHandler({
    services: [sessionObject(runner, options), orchestratorService(runner, options)],
    ...(identityKeys && { identityKeys: [...identityKeys] }),
    ...(logger && { logger }),
  });
}
