import type { McpServers } from "./mcp-servers.ts";
import type {
  Approver,
  BlobStore,
  BudgetLedger,
  Durability,
  EffectExecutor,
  Environment,
  EnvironmentSpec,
  EventLog,
  Executor,
  LifecycleEvent,
  Orchestrator,
  SecretResolver,
  SessionId,
  StateReader,
  Vfs,
} from "@keelson/protocol";
import type { ModelRegistry } from "../../providers/model-registry.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ApprovalKeys } from "./approval-keys.ts";
import type { TaskRunner } from "./task-runner.ts";
import type { DebugFile } from "../../platform/debug-file.ts";
import type { Budget, Run } from "../definition/run.ts";
import type { ContextFactory } from "../definition/tool-context/context-factory.ts";

/** What a runner binds agents to. `createRunner` in the package root fills in what is left out; here nothing is. */
export interface RunnerServices {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly clock: Clock;
  readonly approvalKeys: ApprovalKeys;
  /** Finds models named as `provider/model`. */
  readonly models?: ModelRegistry | undefined;
  /** Knows the servers that agents name in `mcpServers`: a manager made with `createMcpManager`. */
  readonly mcp?: McpServers | undefined;
  /** Answers questions in this process. Without it, and without `run.approvals()`, a run that must ask suspends. */
  readonly approvals?: Approver | undefined;
  /** How long a question waits for `run.approvals()` before the run suspends. Default 5 minutes. */
  readonly approvalWaitMs?: number | undefined;
  /** How long, in ms, a run that waits for a signal or for time does so here before it suspends. Default 0. */
  readonly signalWaitMs?: number | undefined;
  /** How long a token is good. Default 7 days. */
  readonly approvalTtlMs?: number | undefined;
  /** Makes the context of tools that were made with `defineTool.for<Context>()`: for each run, when it starts or resumes in this process. */
  readonly context?: ContextFactory<unknown> | undefined;
  /** What tools are given. */
  readonly files?: Vfs | undefined;
  readonly exec?: Executor | undefined;
  /** Holds the tools of every run inside its boundaries: they have its files and programs in place of `files` and `exec`. */
  readonly environment?: Environment | undefined;
  /** What it must provide for every run, beside what an agent's `sandbox` asks for: boundaries, credentials, limits. */
  readonly environmentSpec?: EnvironmentSpec | undefined;
  readonly state?: StateReader | undefined;
  /** Removes what is kept of a session that is deleted elsewhere than in `log`, `blobs` and `state`, such as in an index. */
  readonly forgetSession?: ((session: SessionId) => Promise<void>) | undefined;
  readonly secrets?: SecretResolver | undefined;
  /** Carries out the effects and directives that runs declare. Without it they only stand in `outcome.effects`. */
  readonly effects?: EffectExecutor | undefined;
  /**
   * Who starts the agent that a run hands its task to. `caller` (the default): whoever started the run, by the `handoff` effect in
   * `outcome.effects`. `runner`: this runner, as an effect like any other; that run goes on alone. A child's parent always does.
   */
  readonly handoffs?: "caller" | "runner" | undefined;
  /** Does background tasks. Without it, `spawn-task` is unsupported. */
  readonly tasks?: TaskRunner | undefined;
  /** Opens the `debugFile` of an agent. Without it, agents that want one are refused. */
  openDebugFile?(path: string): DebugFile;
  /** Who holds leases: must name this process. */
  readonly owner: string;
  /** Default 30 s. A process that is silent for so long loses its sessions. */
  readonly leaseTtlMs?: number | undefined;
  /** What reservations of writes, decisions, settlements and endings ask of the log. Default `power`. */
  readonly durability?: Durability | undefined;
  /** How long a graceful stop may take. Default 60 s. */
  readonly stopGraceMs?: number | undefined;
  /** What a watcher may lag behind. Default 1 MiB. */
  readonly maxBufferBytes?: number | undefined;
  /** Sessions without a name that are over and kept all the same; older ones are deleted. Default: all are kept. */
  readonly keepEndedSessions?: number | undefined;
  /**
   * How many records of a session may stand behind the newest snapshot before another is written: who opens it reads little more than
   * those. `Infinity` writes none. Default 500; none in the memory that `createRunner` brings, which nobody opens again.
   */
  readonly recordsPerSnapshot?: number | undefined;
  /**
   * Starts the children of runs. Default: they work in this process, beside their parents. Those of one that has `wake` work elsewhere:
   * a run that needs their results suspends with `awaiting-child`, and is woken when they are over.
   */
  readonly orchestrator?: Orchestrator | undefined;
  /** Levels of child agents. Default 8. */
  readonly maxDepth?: number | undefined;
  /** Budgets that all runs share, in every process with the same ledger. Those that a run was begun with hold for it to its end. */
  readonly budgets?: readonly Budget[] | undefined;
  /**
   * Told what whoever manages runs may want to act upon, once it is in the log: a budget that comes near its limit, and as
   * `observable` each `retry`, `model-switch` and `rate-limit`, with what the event of that name holds as its attributes. It may notify somebody, adjust the run, or end it. It is not told again after a crash; the log has it. What it throws becomes a
   * `status` event.
   */
  onLifecycleEvent?(event: LifecycleEvent, run: Run<unknown>): void;
  /** 0 to 1. */
  random(): number;
  /** Unique among all processes. */
  newId(): string;
}
