import type { FromOperator, ToOperator } from "./operator-messages.ts";

/** The way to the process of an operator, for one run. Disposed of, nothing of that process is left. */
export interface OperatorLink extends AsyncDisposable {
  /** Whoever is gone hears nothing: `ended` tells of that. */
  send(message: ToOperator): void;
  /** Who hears the operator from now on, in the place of who did. */
  hear(listener: (message: FromOperator) => void): void;
  /** Never fulfilled: rejects once the process is gone, with how it ended. */
  readonly ended: Promise<never>;
}
