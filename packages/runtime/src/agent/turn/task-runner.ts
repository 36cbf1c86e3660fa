import type { JsonValue, RunId, SessionId } from "@keelson/protocol";

/** What a background task is given beside its input. */
export interface TaskCall {
  readonly taskId: string;
  readonly runId: RunId;
  readonly session: SessionId;
  /** The same whenever this task is begun, in any process. */
  readonly idempotencyKey: string;
  /** Fires when the task is stopped, or its run is over. What it returns after that reaches nobody. */
  readonly signal: AbortSignal;
  /** Told to watchers as a `task` event: at the next border of a turn, or at once while the run waits. Of several, the newest. */
  progress(payload: JsonValue): void;
}

/** Does the background tasks of the agents of a runner. */
export interface TaskRunner {
  /**
   * What it returns is put before the model, and so is why it failed. After a crash it is begun again with the same
   * `idempotencyKey`.
   */
  run(description: string, input: JsonValue, call: TaskCall): Promise<JsonValue | undefined> | JsonValue | undefined;
}
