import { AgentError, type LogInfo, type RunStatus, type SessionMetadata } from "@keelson/protocol";
import { atAgentBoundary } from "../log-failure.ts";
import { CHILD_MARK } from "../session-id.ts";
import { sessionLogs } from "../session-logs.ts";
import { listedMetadata } from "../session-summary.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { foldedMetadata } from "./folded-metadata.ts";

/** Which sessions are listed: those that fit all that is given. */
export interface ListOptions {
  /** The agent of the newest run, or the one that the session was created for. */
  readonly agent?: string | undefined;
  readonly tag?: string | undefined;
  /** How far the newest run is. A session that had none yet is in no state. */
  readonly state?: RunStatus | undefined;
  /** Unix ms: those that last changed then or later. */
  readonly since?: number | undefined;
  /** Unix ms: those that last changed before then. */
  readonly until?: number | undefined;
  /** With the sessions of child runs. Default false. */
  readonly children?: boolean | undefined;
}

const STATES: readonly string[] = ["working", "suspended", "ended"] satisfies readonly RunStatus[];

/** What `sessions.list` gives: nothing is read of a session but what its log tells of it, where it tells anything. */
export function listSessions(
  services: Pick<SessionsOptions, "log" | "blobs">,
  options: ListOptions = {},
): Promise<readonly SessionMetadata[]> {
  return atAgentBoundary("*", async () => {
    checkListOptions(options);
    const found: SessionMetadata[] = [];
    for await (const { session, info } of sessionLogs(services.log)) {
      if (options.children !== true && session.includes(CHILD_MARK)) continue;
      if (!isOfTime(info, options)) continue;
      const metadata = listedMetadata(session, info) ?? (await foldedMetadata(services, session));
      if (fits(metadata, options)) found.push(metadata);
    }
    return found.toSorted((a, b) => b.updatedAt - a.updatedAt);
  });
}

function isOfTime({ updatedAt }: LogInfo, { since = -Infinity, until = Infinity }: ListOptions): boolean {
  return updatedAt >= since && updatedAt < until;
}

function fits({ agentName, tags, state }: SessionMetadata, wanted: ListOptions): boolean {
  if (wanted.agent !== undefined && wanted.agent !== agentName) return false;
  if (wanted.tag !== undefined && !tags.includes(wanted.tag)) return false;
  return wanted.state === undefined || wanted.state === state;
}

function checkListOptions(options: ListOptions): void {
  const { state, since, until } = options;
  if (state !== undefined && !STATES.includes(state))
    throw invalid("state", `state must be one of ${STATES.join(", ")}, not ${JSON.stringify(state)}.`);
  for (const [option, time] of Object.entries({ since, until }))
    if (time !== undefined && !(typeof time === "number" && !Number.isNaN(time)))
      throw invalid(option, `${option} must be a time in Unix ms, not ${JSON.stringify(time)}.`);
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message });
}
