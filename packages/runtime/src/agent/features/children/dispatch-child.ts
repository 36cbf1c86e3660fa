import {
  AgentError,
  isRunReason,
  isSuspendReason,
  OrchestratorError,
  UNKNOWN_USAGE,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { foldSession } from "../../../session/fold-session.ts";
import { agentErrorOf } from "../../../session/log-failure.ts";
import type { RunOrigin, RunOutcome } from "../../definition/run.ts";
import type { LiveRun, RunStarter } from "../../turn/live-run.ts";
import { accountOf, type RunAccount } from "../../turn/operator-output.ts";

export interface ChildDispatch {
  /** Whether a turn of it was begun: who wrote its start may have died before anybody was told to work it. */
  readonly isAtWork: boolean;
  readonly id: RunId;
  readonly session: SessionId;
  readonly operator: string;
  readonly input: Pick<OperatorInput, "message" | "config" | "metadata">;
  readonly origin: RunOrigin;
  readonly deadline: number | undefined;
}

/** Has the runner's orchestrator start a child. One that works elsewhere is waited for there; in this process it is worked to its end. */
export async function dispatchChild(runner: RunStarter, orchestrator: Orchestrator, dispatch: ChildDispatch): Promise<LiveRun> {
  const { id, session, operator, input, origin, deadline, isAtWork } = dispatch;
  const { parent, authority } = origin;
  if (isAtWork) return new DispatchedChild(runner, orchestrator, { id, session });
  const stop = runner.outside?.(`the orchestrator, for the agent ${operator}`);
  if (stop) throw stop;
  const started = orchestrator.start(
    operator,
    { ...input, metadata: input.metadata ?? {}, trigger: "task", session },
    {
      id,
      ...(parent && { parent: parent.run, ...(parent.session && { parentSession: parent.session }) }),
      ...(authority && { authority }),
      ...(deadline !== undefined && { deadline }),
    },
  );
  try {
    await started;
  } catch (error) {
    if (orchestrator.wake === undefined || OrchestratorError.is(error, "operator-not-found")) throw error;
    // Whether it was started is not known: the run is left where it is, and its next advance asks for the same child.
    return new DispatchedChild(runner, orchestrator, { id, session, failure: agentErrorOf(session, error) });
  }
  return new DispatchedChild(runner, orchestrator, { id, session });
}

interface Dispatched {
  readonly id: RunId;
  readonly session: SessionId;
  readonly failure?: AgentError;
}

class DispatchedChild implements LiveRun {
  readonly id: RunId;
  readonly session: SessionId;
  failure: AgentError | undefined;
  account: RunAccount | undefined;
  readonly #orchestrator: Orchestrator;
  /** Where it works in this process. */
  readonly #worked: Promise<RunOutcome<unknown>> | undefined;
  /** What it was told, on its way there. */
  #told: Promise<void> = Promise.resolve();

  constructor(runner: RunStarter, orchestrator: Orchestrator, { id, session, failure }: Dispatched) {
    this.id = id;
    this.session = session;
    this.failure = failure;
    this.#orchestrator = orchestrator;
    this.#worked = orchestrator.wake ? undefined : this.#work(runner);
  }

  /** Of one elsewhere, that it is waited for; not before it was told what it is to be told. */
  get outcome(): Promise<RunOutcome<unknown>> {
    return this.#worked ?? this.#told.then(() => isElsewhere(this.id, this.session));
  }

  stop(): Promise<void> {
    return this.#cancel("stop");
  }

  /** An orchestrator knows no interrupt: calls that run elsewhere may finish. */
  interrupt(): Promise<void> {
    return this.#cancel("stop");
  }

  abort(): Promise<void> {
    return this.#cancel("abort");
  }

  /** It has its own log, which nobody lost. */
  detach(): void {}

  #cancel(how: "stop" | "abort"): Promise<void> {
    this.#told = this.#told.then(async () => {
      try {
        await this.#orchestrator.cancel(this.id, how);
      } catch (error) {
        this.failure ??= agentErrorOf(this.session, error);
      }
    });
    return this.#told;
  }

  /** As its log tells it; of an operator without one, as its output does. */
  async #work({ services: { log, blobs }, resume }: RunStarter): Promise<RunOutcome<unknown>> {
    let output: OperatorOutput | undefined;
    let failed: unknown;
    try {
      output = await this.#orchestrator.attach(this.id);
    } catch (error) {
      failed = error;
    }
    const state = await foldSession(log, blobs, this.session);
    if (state.run?.id === this.id) {
      this.account = accountOf(state);
      if (state.run.status === "ended") return (await resume(this.session)).outcome;
      if (state.run.status === "suspended")
        return { ...EMPTY, reason: state.run.suspendReason ?? "awaiting-decision", waits: state.run.waits };
    }
    return output === undefined ? failedOutcome(failed) : outcomeOfOutput(output);
  }
}

const EMPTY = { text: "", turns: 0, usage: UNKNOWN_USAGE, cost: null, effects: [] } as const;

function isElsewhere(run: RunId, session: SessionId): RunOutcome<unknown> {
  return { ...EMPTY, reason: "awaiting-child", waits: [{ type: "child", run, session }] };
}

function failedOutcome(cause: unknown): RunOutcome<unknown> {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { ...EMPTY, reason: "error", error: new AgentError({ kind: "other", message }, { cause }) };
}

function outcomeOfOutput({ message, exitReason, metadata, effects }: OperatorOutput): RunOutcome<unknown> {
  const text = message.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const { turnsUsed: turns, tokensIn: inputTokens, tokensOut: outputTokens, cost } = metadata;
  const told = { text, turns, usage: { ...UNKNOWN_USAGE, inputTokens, outputTokens }, cost, effects };
  const { type } = exitReason;
  if (type === "halted" && "by" in exitReason) return { ...told, reason: type, halted: exitReason };
  if (!isRunReason(type) || isSuspendReason(type) || type === "halted" || type === "error")
    return { ...told, reason: "error", error: new AgentError({ kind: "other", message: `It ended with "${type}".` }) };
  return type === "complete" ? { ...told, reason: type, output: undefined } : { ...told, reason: type };
}
