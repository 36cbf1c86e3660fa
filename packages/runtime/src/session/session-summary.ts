import type { JsonObject, LogInfo, SessionId, SessionMetadata } from "@keelson/protocol";
import type { SessionState } from "./session-state.ts";

/** Which members a summary has. One of another version is not read: its session is folded, and gets one of this version. */
const VERSION = 1;

/**
 * What is appended with records after which the session is in this state: its log keeps it, so that sessions are listed without
 * being read. When the session was created is missing in its first append, which is what creates it.
 */
export function sessionSummary(state: SessionState, isFirst = false): JsonObject {
  const { name, tags, agent, totals, run, parent } = state;
  return {
    v: VERSION,
    ...(name !== undefined && { name }),
    tags,
    agent,
    ...(!isFirst && { createdAt: state.createdAt }),
    turns: totals.turns,
    usage: { ...totals.usage },
    cost: totals.costKnown ? totals.cost : null,
    ...(run && { status: run.status }),
    ...(parent && { parent: { ...parent } }),
  };
}

/** Whether a session may have a run that is not over. Where its log keeps no summary of this version, nobody knows without reading it. */
export function mayHaveOpenRun({ summary }: LogInfo): boolean {
  return summary?.["v"] !== VERSION || summary["status"] === "working" || summary["status"] === "suspended";
}

/** The members as {@link sessionSummary} writes them. */
interface Summary extends Pick<SessionMetadata, "name" | "tags" | "usage" | "cost" | "parent"> {
  readonly agent: string;
  readonly createdAt?: number;
  readonly turns: number;
}

/** What the list of logs tells of a session; nothing where its log keeps no summary of this version. */
export function listedMetadata(id: SessionId, { summary, updatedAt }: LogInfo): SessionMetadata | undefined {
  if (summary?.["v"] !== VERSION) return undefined;
  const { name, tags, agent, createdAt = updatedAt, turns, usage, cost, parent } = summary as JsonObject & Summary;
  return {
    id,
    ...(name !== undefined && { name }),
    tags,
    agentName: agent,
    createdAt,
    updatedAt,
    turnCount: turns,
    totalTokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    usage,
    cost,
    ...(parent && { parent }),
  };
}
