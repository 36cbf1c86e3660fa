import type { EndReason, Failure, HookResult } from "@keelson/protocol";
import type { RunContext } from "../run-context.ts";

/** What `beforeTurn` and `afterTurn` are told. */
export interface TurnContext extends RunContext {
  /** Of this run, from 1. */
  readonly turn: number;
}

/** How a turn ended. A turn fails when the run ends in it for any reason but the model's last response. */
export type TurnEnd = { readonly type: "ok" } | { readonly type: "failed"; readonly reason: EndReason; readonly failure?: Failure };

export type BeforeTurn = (context: TurnContext) => HookResult | undefined | void | Promise<HookResult | undefined | void>;
export type AfterTurn = (context: TurnContext, end: TurnEnd) => void | Promise<void>;
