import type { SessionId } from "./ids.ts";
import type { Usage } from "./usage.ts";
import type { Usd } from "./usd.ts";

export interface SessionMetadata {
  readonly id: SessionId;
  readonly name?: string;
  readonly tags: readonly string[];
  readonly agentName: string;
  /** Unix ms. */
  readonly createdAt: number;
  /** Unix ms of the last record. */
  readonly updatedAt: number;
  readonly turnCount: number;
  /** Input plus output tokens of all runs. */
  readonly totalTokens: number;
  readonly usage: Usage;
  readonly cost: Usd | null;
  readonly parent?: { readonly session: SessionId; readonly seq: number };
}
