import { textMessage, type Authority, type Message, type RunId, type SuspendReason } from "@keelson/protocol";
import type { Journal } from "../../session/journal.ts";
import type { RunState } from "../../session/session-state.ts";
import { sessionError } from "../../session/session-error.ts";
import type { Agent } from "../definition/agent.ts";
import { restoreBudgets, type RestoreOptions } from "../features/budget/restore-budgets.ts";
import { warnQuietly } from "../features/hooks/call-hook.ts";
import { endOrWait, type Next } from "../loop/run-turns.ts";
import { endsProcesses } from "../turn/ends-processes.ts";
import { RunEnding } from "../turn/run-ending.ts";
import { isTimeOver } from "../turn/time-left.ts";
import type { Loop } from "../turn/loop.ts";
import type { Limits } from "../definition/limits.ts";
import { GIVEN_INPUT } from "../features/middleware/process-input.ts";
import type { RunInput, RunOptions, RunOrigin } from "../definition/run.ts";
import { checkState, firstState } from "../features/strategies/enforce-strategy.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";

export interface Beginning {
  readonly id: RunId;
  readonly agent: Agent<unknown>;
  readonly model: string;
  /** Absent: the conversation has it already. */
  readonly input?: RunInput;
  readonly options: RunOptions;
  readonly origin: RunOrigin;
  readonly limits: Limits;
  readonly authority: Authority;
  /** The ledger on which its budgets are counted, where it has any. */
  readonly ledger?: string;
}

/**
 * Puts a run's first records: what it was started with, then the input.
 * @throws AgentError of kind `session` when the session has a run that is not over
 */
export async function beginRun(
  journal: Journal,
  { id, agent, model, input, options, origin, limits, authority, ledger }: Beginning,
): Promise<void> {
  const { state } = journal;
  if (state.run && state.run.status !== "ended") {
    const how = state.run.status === "suspended" ? `waits (${state.run.suspendReason ?? ""})` : "was interrupted";
    throw sessionError(state.id, `Session "${state.id}" has a run that ${how}. Resume it, or abort it, before starting another.`);
  }
  const machineState = firstState(state, agent);
  const parent = origin.parent;
  const { maxTurns, maxCost, maxTokens, unknownPrice, withoutUsage, onBudget, maxDurationMs } = limits;
  const metadata = { ...agent.options.metadata, ...options.metadata };
  journal.put(`${id}/start`, "run-start", {
    session: state.id,
    agent: agent.name,
    definition: agent.digest,
    model,
    // What starts runs for others has an empty one to pass on, or none: the log says the same of both.
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(parent && { parent: { run: parent.run, ...(parent.session && { session: parent.session }) } }),
    ...(options.permissionMode !== undefined && { permissionMode: options.permissionMode }),
    ...(options.effort !== undefined && { effort: options.effort }),
  });
  journal.put(`${id}/terms`, "run-terms", {
    authority: authority,
    limits: {
      maxTurns,
      ...(maxCost !== undefined && { maxCost }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(unknownPrice === "allow" && { unknownPrice }),
      ...(withoutUsage === "estimate" && { withoutUsage }),
      ...(onBudget === "ask" && { onBudget }),
      ...(maxDurationMs !== undefined && { maxDurationMs }),
    },
    ...(ledger !== undefined && { ledger }),
    ...(journal.inboxAtOpen > 0 && { inboxBase: journal.inboxAtOpen }),
    ...(options.deadline !== undefined && { deadline: options.deadline }),
    ...(origin.systemAddendum !== undefined && { systemAddendum: origin.systemAddendum }),
    ...((origin.authority?.policies ?? []).length === 0 && { ownPolicy: true as const }),
  });
  if (machineState !== undefined) journal.put(`${id}/strategy`, "strategy-state", { agent: agent.name, state: machineState });
  if (input !== undefined) putInput(journal, id, agent, input);
  // Known before it reserves anything: what a run holds that nobody ever resumes would be held for good.
  if (ledger !== undefined) await journal.flush();
}

function putInput(journal: Journal, id: RunId, agent: Agent<unknown>, input: RunInput): void {
  const message: Message = typeof input === "string" ? textMessage("user", input) : { role: "user", content: input };
  // What middleware makes of it is what the conversation gets.
  if (agent.middleware?.stack.processes) journal.put(`${id}/${GIVEN_INPUT}`, "run-input", { messages: [message] });
  else journal.put(`${id}/input`, "message", { message: message });
}

/**
 * Puts the records that take a run up again. A run that crashed again and again is ended instead.
 * @param options.turnByTurn an engine works it so: its next turn is no resume, unless it waited or was cut off
 * @returns what comes next, where no turn is to be worked
 */
export async function beginResumed(
  journal: Journal,
  loop: Loop,
  agent: Agent<unknown>,
  options: RestoreOptions & { readonly turnByTurn: boolean },
): Promise<Next | void> {
  const { state } = journal;
  const run = state.run;
  if (run === undefined) return;
  if (run.status === "ended") {
    // Its parent has yet to note that it is over: what it used is in nobody's totals.
    if (options.asChild) await restoreBudgets(loop, options);
    return;
  }
  checkState(state, agent);
  const cause = causeOf(run, loop.execution.clock.now());
  const isResume = !options.turnByTurn || cause !== "recovery" || wasCutOff(journal, run);
  const hooks = hooksOf(loop);
  if (hooks !== undefined) hooks.resumed = cause === "decision" || !options.turnByTurn;
  if (isResume) journal.put(`${run.id}/resume/${run.resumes}`, "run-resume", { cause });
  if (run.definition !== agent.digest) {
    const place = isResume ? `${run.resumes}` : `t${run.turn}`;
    journal.put(`${run.id}/definition/${place}`, "definition-change", { from: run.definition, to: agent.digest });
  }
  await restoreBudgets(loop, options);
  if (isResume && cause === "recovery" && endsProcesses(run)) {
    if (run.ending === undefined)
      return endOrWait(loop, new RunEnding("circuit-breaker", { why: `its process ended ${run.stalls} times before the run got on` }));
    // Whoever would be notified may be what ends the process.
    warnQuietly(
      loop,
      `The process ended ${run.stalls} times in what is done at the end of run "${run.id}" (effects, plugins, hooks): the rest of that is left out.`,
    );
  }
  await journal.flush();
}

/** Whether whoever worked on the run before left something undone, and did not only come to the end of a turn. */
function wasCutOff({ tookOver }: Journal, { turnOpen, ending }: RunState): boolean {
  return tookOver || turnOpen || ending !== undefined;
}

const CAUSES = {
  "awaiting-approval": "decision",
  "awaiting-decision": "decision",
  "awaiting-signal": "signal",
  "awaiting-timer": "timer",
  "awaiting-child": "child",
} as const satisfies { readonly [R in SuspendReason]: string };

function causeOf(run: RunState, now: number): (typeof CAUSES)[SuspendReason] | "recovery" {
  if (run.status !== "suspended") return "recovery";
  return isTimeOver(run, now) ? "timer" : CAUSES[run.suspendReason ?? "awaiting-decision"];
}
