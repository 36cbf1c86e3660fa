import type { Authority, BlobStore, Executor, SecretResolver, StateReader, ToolEnvironment, ToolSchema, Vfs } from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Context } from "../../context/context.ts";
import type { Execution } from "../../session/execution.ts";
import type { RunState, SessionState } from "../../session/session-state.ts";
import type { ToolSet } from "../../tools/tool-registry.ts";
import type { Agent } from "../definition/agent.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { ModelSource } from "../definition/model-source.ts";
import type { AttemptSignal } from "./attempt-signal.ts";
import type { CutResponse } from "./cut-response.ts";
import type { RunParts } from "./run-parts.ts";
import type { Limits } from "../definition/limits.ts";

/** What tools may use of the services of a runner. */
export interface ToolServices {
  readonly files?: Vfs;
  readonly exec?: Executor;
  readonly environment?: ToolEnvironment;
  readonly state?: StateReader;
  readonly secrets?: SecretResolver;
}

/** One run at work: all that the functions of the loop share. */
export interface Loop {
  readonly agent: Agent<unknown>;
  /** What calls of this turn are looked up in: the agent's own tools, and what its sources were recorded to offer. */
  readonly tools: ToolSet;
  /** The tools that the model may call in this turn, as it is told of them; fewer in the states of a strategy: `schemasOf`. */
  readonly schemas: readonly ToolSchema[];
  readonly limits: Limits;
  /** The settings of every request: those of the agent, with the effort of the run. */
  readonly settings: InferenceSettings;
  readonly context: Context;
  readonly execution: Execution;
  /** What the ids of its calls begin with. */
  readonly callPrefix: string;
  readonly models: ModelSource;
  readonly authority: Authority;
  readonly blobs: BlobStore;
  readonly toolServices: ToolServices;
  /** What the response that broke off last had said, until it is asked for again: the end of the run keeps it. */
  cut: CutResponse | undefined;
  /** What its features keep while it works. */
  readonly parts: RunParts;
  /** Reads what others wrote to the session since the last point, and acts on it: the loop's, which knows what each kind of entry does. */
  readInbox(): Promise<void>;
  /** Why this process was told to end the run, where somebody said so. */
  readonly statedReason?: () => string | undefined;
  /** Ends an attempt at the model, because the run was aborted or somebody steered with `interrupt`. */
  readonly attempts: AttemptSignal;
  /** True for work beside the turns. It cannot suspend the run, and so asks no person for a larger budget. */
  readonly isBeside?: true;
  /** Draws from 0 to 1, for jitter; what comes of it is recorded. */
  random(): number;
  /** Where watchers get what streams. */
  readonly hub: Pick<EventHub, "delta" | "deltas" | "watched" | "nextAttempt">;
  /** Notes what the loop does, where somebody debugs it. */
  readonly debug: ((message: string) => void) | undefined;
}

export function sessionOf(loop: Loop): SessionState {
  return loop.execution.journal.state;
}

export function runOf(loop: Loop): RunState {
  return loop.execution.journal.state.run as RunState;
}
