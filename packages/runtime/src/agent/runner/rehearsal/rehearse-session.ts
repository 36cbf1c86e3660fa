import { AgentError, isSuspendReason, LogError, type SessionId } from "@keelson/protocol";
import { createBlobLayer } from "../../../session/blob-layer.ts";
import { foldReadable } from "../../../session/fold-session.ts";
import { agentErrorOf, isOfOneSession } from "../../../session/log-failure.ts";
import { createLogLayer, type LogLayer } from "../../../session/log-layer.ts";
import { OutsideReached } from "../../../session/outside-reached.ts";
import type { RunOutcome } from "../../definition/run.ts";
import type { RunnerInternals } from "../runner-internals.ts";
import { takeUpRun } from "../take-up-run.ts";
import { findDifference } from "./find-difference.ts";
import { rehearsalRunner, type Reached } from "./rehearsal-runner.ts";
import type { RehearsedSession } from "./rehearsed-session.ts";

type Finding = Pick<RehearsedSession, "verdict" | "reason" | "isSafe"> & Partial<Pick<RehearsedSession, "action" | "seq">>;

/**
 * Resumes a session on a layer over its log, by the code that resumes it.
 * @param log what it writes to
 * @returns nothing where its run is over, or where it has none
 */
export async function rehearseSession(
  runner: RunnerInternals,
  session: SessionId,
  log: LogLayer = createLogLayer(runner.services.log, () => runner.services.clock.now()),
): Promise<RehearsedSession | undefined> {
  const { services } = runner;
  const blobs = createBlobLayer(services.blobs);
  const { state, damage } = await foldReadable(log, blobs, session);
  if (damage !== undefined && !isOfOneSession(damage)) throw agentErrorOf(session, damage);
  const { run, seq: end } = state;
  if (damage === undefined && state.seq > 0 && (run === undefined || run.status === "ended")) return undefined;
  const agent = run && runner.find(run.agent);
  const found = await resumeUntilOutside(runner, { session, log, blobs });
  const difference = found.verdict === "refused" ? undefined : await findDifference(services, session, end);
  return {
    session,
    ...(run && { run: run.id, agent: run.agent }),
    changed: run !== undefined && agent !== undefined && run.definition !== agent.digest,
    ...found,
    ...difference,
  };
}

interface Stores {
  readonly session: SessionId;
  readonly log: LogLayer;
  readonly blobs: ReturnType<typeof createBlobLayer>;
}

async function resumeUntilOutside(runner: RunnerInternals, { session, log, blobs }: Stores): Promise<Finding> {
  const reached: Reached = { at: [], passed: [] };
  const rehearsing = rehearsalRunner(runner, { log, blobs }, reached);
  try {
    const active = await takeUpRun(rehearsing, session, {});
    const outcome = await active.outcome;
    const stopped = active.failure?.cause instanceof OutsideReached;
    if (active.failure !== undefined && !stopped) return refused(active.failure);
    return isSuspendReason(outcome.reason) || stopped ? suspended(log, outcome, reached) : ended(outcome);
  } catch (error) {
    return refused(agentErrorOf(session, error));
  }
}

/** @throws what is no matter of this session: a log that is closed or can't be reached */
function refused(error: AgentError): Finding {
  if (error.cause !== undefined && !isOfOneSession(error.cause)) throw error;
  const seq = damagedRecord(error);
  return {
    verdict: "refused",
    reason: error.message,
    action: AgentError.is(error, "backend")
      ? "Look at the log with `keelson sessions check`, and restore it from a backup."
      : "Deploy a build that can go on with it, or end the run with the build that it has: runner.abort(session).",
    ...(seq !== undefined && { seq }),
    isSafe: false,
  };
}

function damagedRecord(error: unknown): number | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (LogError.is(cause, "corrupt")) return cause.failure.seq;
  return undefined;
}

function suspended(log: LogLayer, outcome: RunOutcome<unknown>, { at, passed }: Reached): Finding {
  const proviso = passed.length === 0 ? "" : `, as far as this lets it: ${listed(passed)}`;
  const asked = newQuestions(log);
  const isMisfit = asked.some(({ key }) => key.includes(MISFIT));
  // Where something else is reached as well, that is what goes on: the callback that answers questions, or calls beside those of a child.
  if (isMisfit || (asked.length > 0 && at.length === 0)) {
    return {
      verdict: "asks",
      reason: `${asked.map(({ reason }) => reason).join(" ")}${proviso}`,
      action: isMisfit
        ? "Keep what the call needs in the agent until the run is past it, or have a person decide the question after the deployment."
        : "Nothing to be done for the deployment: a person is asked once the run goes on.",
      isSafe: !isMisfit,
    };
  }
  const { waits = [] } = outcome;
  if (at.length === 0)
    return { verdict: "waits", reason: `it waits as before, for ${listed(waits.map(described)) || outcome.reason}`, isSafe: true };
  return { verdict: "goes-on", reason: `it goes on with ${listed(at)}${proviso}`, isSafe: true };
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}

/** In the key of a question about a call that the new definition can't go on with. */
const MISFIT = "/misfit/question/";

/** That were not asked yet. One whose token is issued anew was. */
function newQuestions(log: LogLayer): readonly { readonly key: string; readonly reason: string }[] {
  return log.added.flatMap(({ record: { key, type, data } }) =>
    type === "approval-request" && !key.includes("/issue/") ? [{ key, reason: String(data["reason"]) }] : [],
  );
}

function described(wait: NonNullable<RunOutcome<unknown>["waits"]>[number]): string {
  if (wait.type === "approval" || wait.type === "decision") return `a person's word on ${wait.operation}`;
  if (wait.type === "signal") return `the signal ${wait.name}`;
  if (wait.type === "timer") return new Date(wait.at).toISOString();
  return wait.type === "child" ? `the run of session ${wait.session}` : "what a later version waits for";
}

function ended(outcome: RunOutcome<unknown>): Finding {
  const { reason, error, why } = outcome;
  if (error === undefined) return { verdict: "ends", reason: `it ends: ${reason}${why === undefined ? "" : ` (${why})`}`, isSafe: true };
  return {
    verdict: "ends",
    reason: `it ends with an error: ${error.message}`,
    action: "Deploy a build that doesn't fail so: the run would be over for good.",
    isSafe: false,
  };
}
