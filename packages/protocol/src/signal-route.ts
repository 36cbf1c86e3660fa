import type { Signal, SignalKind } from "./effect.ts";

/** What an agent does about a signal. */
export type SignalAction =
  | { readonly type: "continue" }
  /** After the calls that are running. */
  | { readonly type: "graceful-stop" }
  | { readonly type: "force-stop" }
  /** Moves a state machine. */
  | { readonly type: "transition"; readonly state: string }
  | { readonly type: "custom"; readonly name: string };

/** Within its tier (strategy, agent, plugin) the route with the highest priority that matches wins. */
export interface SignalRoute {
  readonly kind: SignalKind;
  /** Pure: it is asked again on replay. */
  readonly predicate?: (signal: Signal) => boolean;
  readonly action: SignalAction;
  readonly priority: number;
}
