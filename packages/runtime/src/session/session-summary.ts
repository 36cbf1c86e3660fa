import type { JsonObject, LogInfo, RunStatus, SessionId, SessionMetadata } from "@keelson/protocol";
import { runSummary } from "./run-summary.ts";
import type { SessionState } from "./session-state.ts";

/** Which members a summary has. One of another version is not read: its session is folded, and gets one of this version. */
const VERSION = 1;

/**
 * What is appended with records after which the session is in this state: its log keeps it, so that sessions are listed without
 * being read. When the session was created is missing in its first append, which is what creates it.
 */
export function sessionSummary(state: SessionState, isFirst = false): JsonObject {
  const { name, tags, agent, totals, run, parent } = state;
  const { reason } = runSummary(run);
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
    ...(reason !== undefined && { reason }),
    ...(parent && { parent: { ...parent } }),
  };
}

/**
 * What an import adds to the summary of a session whose records keep their times: its blobs were put long after those. By the clock of this process,
 * which may be behind that of the store, hence the margin.
 */
export function importedSummary(state: SessionState, now: number): JsonObject {
  return { ...sessionSummary(state), importedAt: now + CLOCK_MARGIN_MS };
}

const CLOCK_MARGIN_MS = 10_000;

/** Unix ms; nothing where nothing says that it was imported, or it has gone on since. */
export function importedAt({ summary }: LogInfo): number | undefined {
  const at = summary?.["importedAt"];
  return typeof at === "number" ? at : undefined;
}

/** Whether a session may have a run that is not over. Where its log keeps no summary of this version, nobody knows without reading it. */
export function mayHaveOpenRun({ summary }: LogInfo): boolean {
  return summary?.["v"] !== VERSION || summary["status"] === "working" || summary["status"] === "suspended";
}

/** The members as {@link sessionSummary} writes them. */
interface Summary extends Pick<SessionMetadata, "name" | "tags" | "usage" | "cost" | "parent" | "reason"> {
  readonly agent: string;
  readonly createdAt?: number;
  readonly turns: number;
  readonly status?: RunStatus;
}

/** What the list of logs tells of a session; nothing where its log keeps no summary of this version, or one from before it said why a run is not at work. */
export function listedMetadata(id: SessionId, { summary, updatedAt }: LogInfo): SessionMetadata | undefined {
  if (summary?.["v"] !== VERSION) return undefined;
  const { name, tags, agent, createdAt = updatedAt, turns, usage, cost, parent, status, reason } = summary as JsonObject & Summary;
  if (status !== undefined && status !== "working" && reason === undefined) return undefined;
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
    ...(status !== undefined && { state: status }),
    ...(reason !== undefined && { reason }),
  };
}
