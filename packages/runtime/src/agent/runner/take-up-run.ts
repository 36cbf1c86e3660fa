import { AgentError, KeelsonError, sessionLog, type SessionId } from "@keelson/protocol";
import type { Journal, JournalWatcher } from "../../session/journal.ts";
import { agentErrorOf } from "../../session/log-failure.ts";
import { sessionError } from "../../session/session-error.ts";
import { checkSessionId } from "../../session/session-id.ts";
import type { HeldContext } from "../definition/tool-context/held-context.ts";
import { ActiveRun } from "./active-run.ts";
import { beginResumed } from "./begin-run.ts";
import { openJournal } from "./open-journal.ts";
import { budgetsOf, termsOf } from "./run-terms.ts";
import type { RunnerInternals } from "./runner-internals.ts";

export interface TakeUpOptions {
  readonly signal?: AbortSignal;
  /** Turns to work before letting go. Default: to the end. */
  readonly turns?: number;
  /** Whether a child that waits, and has nothing to go on with, is left as it is. Default: it is taken up, and asks again. */
  readonly leavesWaiting?: boolean;
  readonly inheritedContext?: HeldContext | undefined;
  /** It is the run above that takes it up. */
  readonly asChild?: boolean;
}

/** A session whose lease this process has, and whose run nobody works yet. */
export interface OpenSession {
  readonly session: SessionId;
  readonly journal: Journal;
  readonly relay: { to?: JournalWatcher };
}

/** Takes up the run of a session. */
export async function takeUpRun(runner: RunnerInternals, session: string, options: TakeUpOptions): Promise<ActiveRun<unknown>> {
  return takeUpOpen(runner, await openSession(runner, session), options);
}

/** Takes the lease of a session that there is, and folds its log. Whoever opened it takes its run up, or closes the journal. */
export async function openSession(runner: RunnerInternals, session: string): Promise<OpenSession> {
  checkSessionId(session, { child: true });
  if ((await runner.services.log.head(sessionLog(session as SessionId))) === 0)
    throw sessionError(session, `There is no session "${session}".`);
  // The lease comes first, so that a session on which another process works is refused here. The run takes over as soon as it is there.
  const relay: { to?: JournalWatcher } = {};
  const journal = await openJournal(runner.services, session as SessionId, {
    committed: (records) => relay.to?.committed(records),
    lost: (error) => relay.to?.lost(error),
    snapshotFailed: (error) => relay.to?.snapshotFailed?.(error),
  }).catch((error: unknown) => {
    // Nothing was done yet but to read and fold: what stumbles here stumbles over what the log holds.
    if (error instanceof KeelsonError) throw agentErrorOf(session as SessionId, error);
    throw new AgentError(
      { kind: "backend", message: `The log of session "${session}" holds what no run wrote: restore it from a backup.` },
      { cause: error },
    );
  });
  return { session: session as SessionId, journal, relay };
}

/** Gives the journal back where the run can't be taken up. */
export async function takeUpOpen(runner: RunnerInternals, open: OpenSession, options: TakeUpOptions): Promise<ActiveRun<unknown>> {
  const { session, journal, relay } = open;
  try {
    return takeUp(runner, session, journal, relay, options);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function takeUp(
  runner: RunnerInternals,
  session: SessionId,
  journal: Journal,
  relay: { to?: JournalWatcher },
  options: TakeUpOptions,
): ActiveRun<unknown> {
  const { run } = journal.state;
  if (run === undefined) throw sessionError(session, `Session "${session}" has no run to go on with.`);
  const agent = runner.find(run.agent);
  if (agent === undefined)
    throw sessionError(
      session,
      `The run of session "${session}" belongs to the agent "${run.agent}", which this runner does not have (it has ${runner.names().join(", ")}).`,
    );
  const { limits, authority } = termsOf(run, agent, runner.services);
  const deadline = run.terms?.deadline;
  return new ActiveRun<unknown>({
    runner,
    moments: runner.moments,
    agent,
    id: run.id,
    session,
    authority,
    limits,
    ...(deadline !== undefined && { deadline }),
    ...(options.signal && { signal: options.signal }),
    ...(options.turns !== undefined && { turns: options.turns }),
    ...(options.inheritedContext && { inheritedContext: options.inheritedContext }),
    ...(options.leavesWaiting !== undefined && { leavesWaiting: options.leavesWaiting }),
    ...(run.parent && { parent: run.parent }),
    ...(run.parent?.session && options.asChild !== true && { wakes: run.parent.session }),
    async open(own) {
      relay.to = own;
      return journal;
    },
    begin: (_journal, loop) =>
      beginResumed(journal, loop, agent, {
        ...runner,
        budgetsOf: (run, itsAgent) => budgetsOf(run, itsAgent, runner.services),
        turnByTurn: options.turns !== undefined,
        asChild: options.asChild === true,
      }),
  });
}
