import { isAbsolute, join } from "node:path";
import type { Executor } from "@keelson/protocol";
import { beforeRequests } from "../../../environment/execution/before-requests.ts";

/** What an agent's definition says of where its programs run. */
export interface AgentPlace {
  readonly cwd?: string | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
}

/** Starts programs in this folder and with these variables; what a request says itself goes before them. */
export function startedIn(exec: Executor, { cwd, env }: AgentPlace): Executor {
  return beforeRequests(exec, (request) => {
    const folder =
      cwd === undefined || request.cwd === undefined || isAbsolute(request.cwd) ? (request.cwd ?? cwd) : join(cwd, request.cwd);
    return { ...(folder !== undefined && { cwd: folder }), ...(env && { env: { ...env, ...request.env } }) };
  });
}
