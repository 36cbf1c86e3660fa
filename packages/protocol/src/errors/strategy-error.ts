import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why an execution strategy refused an action. */
export type StrategyFailure = { readonly message: string } & (
  | {
      readonly kind: "invalid-transition";
      readonly currentState: string;
      readonly attemptedAction: string;
      readonly validActions: readonly string[];
    }
  /** `guards` are the names of the guards that refused. */
  | { readonly kind: "guard-rejected"; readonly guards: readonly string[] }
  | { readonly kind: "no-initial-state" }
  | { readonly kind: "execution" }
  | { readonly kind: "other" }
);

export const STRATEGY_FAILURE_RETRYABLE: { readonly [K in StrategyFailure["kind"]]: boolean } = {
  "invalid-transition": false,
  "guard-rejected": false,
  "no-initial-state": false,
  "execution": false,
  "other": false,
};

export class StrategyError extends KeelsonError<StrategyFailure> {
  override readonly "name" = "StrategyError";
  readonly "~keelson" = "StrategyError";

  get "retryable"(): boolean {
    return STRATEGY_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends StrategyFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is StrategyError & { readonly failure: Extract<StrategyFailure, { kind: K }> } {
    return hasBrand(error, "StrategyError") && (kind === undefined || (error as StrategyError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<StrategyError> {
    return new StrategyError(data.failure as StrategyFailure, { cause: data.cause });
  }
}
