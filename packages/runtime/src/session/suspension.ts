import type { SuspendReason, Wait } from "@keelson/protocol";

/** Thrown by `ExecutionContext.suspend` to unwind to whoever drives the run. Never an error: do not catch it for good. */
export class Suspension extends Error {
  override readonly name = "Suspension";
  readonly reason: SuspendReason;
  readonly waits: readonly Wait[];

  constructor(reason: SuspendReason, waits: readonly Wait[]) {
    super(`the run waits (${reason})`);
    this.reason = reason;
    this.waits = waits;
  }
}
