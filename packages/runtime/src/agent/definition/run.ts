import type {
  AgentEvent,
  ApprovalRequest,
  Authority,
  BudgetScope,
  Content,
  Decision,
  EffortLevel,
  JsonObject,
  LifecycleEvent,
  Message,
  PermissionMode,
  RunId,
  SessionId,
  Signal,
  Usd,
} from "@keelson/protocol";
import type { ChildView } from "./child-view.ts";
import type { PartialValue } from "./output/partial-value.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { HeldContext } from "./tool-context/held-context.ts";

export type { RunOutcome } from "./run-outcome.ts";

type BudgetTerms = { readonly [Term in Exclude<keyof BudgetScope, "id" | "maxCost">]?: BudgetScope[Term] | undefined };

/** A limit that many runs share: a user's, a day's. Whatever names the same `id` on the same ledger counts against it. */
export interface Budget extends BudgetTerms {
  readonly id: string;
  /** US dollars, as a decimal string or a number. */
  readonly maxCost?: Usd | string | number | undefined;
}

export interface PendingApproval {
  readonly request: ApprovalRequest;
  /** Rejects with AgentError `invalid-token` when it was decided already, `invalid-option` for what does not answer it. */
  decide(decision: Decision): Promise<void>;
}

/**
 * One run: iterate it to watch, await `outcome` to wait. Each iterator is a subscription from its creation; nothing is
 * emitted before the caller's next microtask. Leaving the loop early does not stop the run. The actions resolve when they
 * are accepted: a run that waits reads them when it is resumed; on a run that is over they do nothing.
 */
export interface Run<Out = unknown> extends AsyncIterable<AgentEvent> {
  readonly id: RunId;
  readonly session: SessionId;
  /** Rejects only on a bug. */
  readonly outcome: Promise<RunOutcome<Out>>;
  /**
   * Ends the run (`stopped`): a response that streams at once, with what it said kept; calls that run may finish, and are aborted
   * after `stopGraceMs`. The outcome tells the reason as `why`.
   */
  stop(reason?: string): Promise<void>;
  /**
   * Ends the run soon (`stopped`), calls that run included: their `signal` fires with the reason `"interrupted"`, and what they return then is their
   * result. A command is ended with all that it started, and keeps its output; an edit in this process finishes. A write that does not say what became
   * of it is unknown: then the run waits (`awaiting-decision`), and asks about that write when it is resumed, before it ends. Calls that have not
   * started do not run. Once this resolves, the log has it: a run whose process dies then ends `stopped` when it is resumed.
   */
  interrupt(reason?: string): Promise<void>;
  /** Ends the run at once (`aborted`). What the model said by then is kept. The outcome tells the reason as `why`. */
  abort(reason?: string): Promise<void>;
  /** From the next turn on, also in later runs of this agent in the session that name no model. Rejects when there is no such model. */
  setModel(model: string): Promise<void>;
  /**
   * Sets the permission mode until the run ends, also after a resume: for the calls of the response that streams and of later ones. Calls that were
   * judged before stay as they are, and so does a question that is open. Rules that deny still deny, and children that are at work keep the mode that they
   * were started with. In a run that another one or an orchestrator started, it can only restrict. Rejects for a mode that does not exist.
   */
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Sets the effort until the run ends, from the next turn on; `null` is that of the agent. Rejects for one that the model does not take. */
  setEffort(effort: EffortLevel | null): Promise<void>;
  /**
   * Shortens the conversation before the next turn, by the agent's strategy: of this run, or of the next one of the session if this one
   * ends before.
   * @param options.keep what a summary is to keep in particular
   */
  compact(options?: { readonly keep?: string | undefined }): Promise<void>;
  /** Adds a message before the next inference. `interrupt`: drops the response that streams, and skips calls that have not started. */
  steer(message: string | Message, options?: { readonly interrupt?: boolean }): Promise<void>;
  /** Tells the run what happened outside; its signal routes decide what becomes of it. Rejects for what is no signal. */
  signal(signal: Signal): Promise<void>;
  /** The agents and tasks that it started, and theirs below them: from their logs, so also of a run that waits or is over. */
  children(): Promise<readonly ChildView[]>;
  /**
   * Ends one child or task, at any depth, by its id, and leaves all else at work. What it had reaches whoever started it, as the
   * failure that it is. @returns whether it was open
   */
  stopChild(id: string): Promise<boolean>;
  /**
   * Has an agent that worked beside the turns and failed go on where it stopped, in its session under a new id. @returns whether
   * there is such a one, and the run can still wait for it
   */
  retryChild(id: string): Promise<boolean>;
  /** Questions as they come up. While somebody iterates, the run waits `approvalWaitMs` before it suspends. */
  approvals(): AsyncIterable<PendingApproval>;
  /**
   * The structured output as it streams, from the first call on: values that grow, the newest one for who comes late, and
   * `outcome.output` last. What a retry or a repair makes void is followed by values of the new response. They are as the model
   * writes them, not yet checked; each stays as it is. Ends with the run. Throws for an agent without `output`.
   */
  partialOutput(): AsyncIterable<PartialValue<Out>>;
  /**
   * With `after`: first what the log holds behind that seq, then what the open response has said so far (each text, thought and call
   * of it in one piece, all under the number `n` of the last), then what comes. `after: 0` is the whole run. So a watcher that lost
   * its connection drops what it has of the open response, and goes on from the last `seq` it saw.
   */
  events(options?: { readonly after?: number }): AsyncIterable<AgentEvent>;
}

export interface RunOptions {
  /** Goes on in this session, or begins it. Default: a new one. */
  readonly session?: string | undefined;
  /** Instead of the agent's. */
  readonly model?: string | undefined;
  /** Instead of the mode in the agent's `permissions`. Its rules hold as they are. */
  readonly permissionMode?: PermissionMode | undefined;
  /** Instead of the agent's. */
  readonly effort?: EffortLevel | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Unix ms after which the run ends (`timeout`). */
  readonly deadline?: number | undefined;
  /** Tighter limits than the agent's, for this run. */
  readonly limits?:
    | {
        readonly maxTurns?: number | undefined;
        /** US dollars, of this run and its children. */
        readonly maxCost?: Usd | string | number | undefined;
        /** Tokens of input and output, of this run and its children. */
        readonly maxTokens?: number | undefined;
        readonly maxDurationMs?: number | undefined;
        /** Under a limit of money: whether a model without a known price is called. `allow` holds where the agent does not refuse. Default `refuse`. */
        readonly unknownPrice?: "refuse" | "allow" | undefined;
        /** As of an agent. `estimate` holds where the agent does not say `reserve`. Default `reserve`. */
        readonly withoutUsage?: "reserve" | "estimate" | undefined;
        /** Replaces the choice of the agent, because the program that starts a run knows whether a person can answer. */
        readonly onBudget?: "ask" | "end" | undefined;
      }
    | undefined;
  /** Budgets that this run and its children share with others of the same `id`, beside those of the runner. */
  readonly budgets?: readonly Budget[] | undefined;
  /** Reaches `instructions` and `onModelError`. */
  readonly metadata?: JsonObject | undefined;
}

export interface BeginOptions extends Omit<RunOptions, "session" | "signal"> {
  /** The same id again is the same run. Default: a new one. */
  readonly id?: string | undefined;
}

/** What a run is given by what started it, beside what users may say. */
export interface RunOrigin {
  readonly id?: RunId;
  readonly parent?: { readonly run: RunId; readonly session?: SessionId };
  readonly authority?: Authority;
  readonly allowedTools?: readonly string[];
  readonly systemAddendum?: string;
  /** Turns to work before letting go. Default: to the end. */
  readonly turns?: number;
  /** The context of the parent's tools, if the parent works in this process. */
  readonly inheritedContext?: HeldContext | undefined;
  /** Told what orchestrators may want to act upon, beside the runner's own. */
  onLifecycleEvent?(event: LifecycleEvent): void;
}

export type RunInput = string | readonly Content[];
