import type { Message } from "./content.ts";
import type { SessionId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { Usage } from "./usage.ts";
import type { Usd } from "./usd.ts";

/** How far a run is. One that is suspended waits for somebody, or for a time. */
export type RunStatus = "working" | "suspended" | "ended";

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
  /** Of its newest run; absent before the first. One that is `working` may also have lost its process. */
  readonly state?: RunStatus;
  /** Why that run is suspended, or how it ended. */
  readonly reason?: string;
  /** Why its log can't be read to its end. All else is what stands before that. */
  readonly damaged?: string;
}

/** A whole session as plain data: for export, import and stores that keep snapshots. */
export interface Session {
  readonly metadata: SessionMetadata;
  readonly messages: readonly Message[];
  /** State of plugins and the environment. */
  readonly state: JsonObject;
}
