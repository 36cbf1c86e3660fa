import type { JsonObject, RunId, SessionId, Usd } from "@keelson/protocol";

/** What `instructions` and `onModelError` are told. */
export interface RunContext {
  readonly session: SessionId;
  readonly runId: RunId;
  /** The model of this turn. */
  readonly model: string;
  /** Retries of the current call so far; 0 on the first attempt. */
  readonly retryCount: number;
  /** Of this session so far; what has no price is not in it. */
  readonly cumulativeCost: Usd;
  /** The agent's, with the run's own on top. */
  readonly metadata: JsonObject;
  /** The agent's working directory, when it has one. */
  readonly cwd?: string;
  /** The agent's environment variables, when it has some. */
  readonly env?: { readonly [name: string]: string };
}
