import type { Signal, SignalAction } from "@keelson/protocol";
import type { RunContext } from "../run-context.ts";

/** What a handler wants done about a signal. Nothing: the run goes on. */
export type SignalResponse =
  | Exclude<SignalAction, { readonly type: "custom" }>
  /** Shown to the model before its next response. */
  | { readonly type: "message"; readonly text: string };

export interface SignalContext extends RunContext {
  /** The state of the agent's state machine, when it has one. */
  readonly state?: string;
}

/** Called once for each signal whose route has the action `custom` with the handler's name; its response is recorded. */
export type SignalHandler = (
  signal: Signal,
  context: SignalContext,
) => SignalResponse | undefined | void | Promise<SignalResponse | undefined | void>;
