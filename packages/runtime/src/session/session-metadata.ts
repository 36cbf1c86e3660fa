import type { SessionMetadata } from "@keelson/protocol";
import { runSummary } from "./run-summary.ts";
import type { SessionState } from "./session-state.ts";

export function sessionMetadata(state: SessionState): SessionMetadata {
  const { usage, cost, costKnown, turns } = state.totals;
  return {
    id: state.id,
    ...(state.name !== undefined && { name: state.name }),
    tags: [...state.tags],
    agentName: state.agent,
    createdAt: state.createdAt,
    updatedAt: state.at,
    turnCount: turns,
    totalTokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    usage,
    cost: costKnown ? cost : null,
    ...(state.parent && { parent: state.parent }),
    ...runSummary(state.run),
  };
}
