import type { BudgetEvent } from "./event.ts";
import type { JsonObject } from "./json.ts";

/** Told to whoever coordinates compaction between an operator and its store. */
export interface CompactionEvent {
  readonly phase: "before" | "after";
  readonly messageCount: number;
  readonly tokenCount: number | null;
  readonly summary?: string;
}

/** A fact for telemetry. Of runs, `name` is the type of the event that the log has of it, and `attributes` what that holds. */
export interface ObservableEvent {
  readonly name: string;
  /** Unix ms. */
  readonly at: number;
  readonly attributes: JsonObject;
}

/** What layers tell each other outside the protocols: the orchestrator may cancel, notify or adjust. */
export type LifecycleEvent =
  | ({ readonly type: "budget" } & BudgetEvent)
  | ({ readonly type: "compaction" } & CompactionEvent)
  | ({ readonly type: "observable" } & ObservableEvent);
