import type { Signal } from "./effect.ts";
import type { OperatorId, RunId, SessionId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { OperatorInput } from "./operator-input.ts";
import type { OperatorOutput } from "./operator-output.ts";
import type { SerializedError } from "./errors/keelson-error.ts";
import type { Authority } from "./permission.ts";

export interface DispatchOptions {
  /** Starting twice under one id is starting once. */
  readonly id?: RunId | undefined;
  readonly parent?: RunId | undefined;
  /** The session of `parent`: woken when the run is over, where runs go on without the process that started them. */
  readonly parentSession?: SessionId | undefined;
  /** Unix ms. */
  readonly deadline?: number | undefined;
  readonly authority?: Authority | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DispatchTask {
  readonly operator: OperatorId | string;
  readonly input: OperatorInput;
  readonly options?: DispatchOptions;
}

export type DispatchResult =
  | { readonly ok: true; readonly output: OperatorOutput }
  | { readonly ok: false; readonly error: SerializedError };

export interface Query {
  readonly name: string;
  readonly params: JsonObject;
}

/** Runs operators, near or far: a caller cannot tell a function call from a network hop. Failures reject with `OrchestratorError`. */
export interface Orchestrator {
  start(operator: OperatorId | string, input: OperatorInput, options?: DispatchOptions): Promise<RunId>;
  attach(id: RunId): Promise<OperatorOutput>;
  cancel(id: RunId, how: "stop" | "abort"): Promise<void>;
  /** Start, then attach. */
  dispatch(operator: OperatorId | string, input: OperatorInput, options?: DispatchOptions): Promise<OperatorOutput>;
  /** In parallel; results in input order; each fails alone. */
  dispatchMany(tasks: readonly DispatchTask[]): Promise<readonly DispatchResult[]>;
  /** Resolves when accepted, not when processed. */
  signal(target: RunId | string, signal: Signal): Promise<void>;
  /** Read only. */
  query(target: RunId | string, query: Query): Promise<JsonValue>;
  /**
   * Only of an orchestrator whose runs go on without the process that started them. The run of this session may have something to do:
   * it was begun, its inbox was written to, a child of it is over. Once too often does no harm; a session that is worked while it is
   * woken is looked at again after that.
   */
  wake?(session: SessionId): Promise<void>;
}
