import type { CallId, EndReason, SessionId, Usage, Usd, Wait } from "@keelson/protocol";

/** An agent, a task or a job that a run started, and what the log says of it by now. */
export interface ChildView {
  /** Run id of an agent, id of a task or of a job. */
  readonly id: string;
  readonly kind: "agent" | "task" | "job";
  /** An agent's name among its siblings, a task's description, the command of a job. */
  readonly name: string;
  readonly agent?: string;
  readonly session?: SessionId;
  /** The call that waits for it. */
  readonly callId?: CallId;
  /** Whether it works beside the turns. */
  readonly background: boolean;
  readonly status: "working" | "suspended" | EndReason;
  /** Of its last response so far. */
  readonly text: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: Usd | null;
  /** What it waits for while it is suspended. */
  readonly waits: readonly Wait[];
  readonly children: readonly ChildView[];
}
