import { isSuspendReason, sessionLog, UNKNOWN_USAGE, ZERO_USD, type JsonObject, type RunId, type SessionId } from "@keelson/protocol";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Execution } from "../../../session/execution.ts";
import { stepFailureOf } from "../../../session/step-failure.ts";
import type { RunOutcome } from "../../definition/run.ts";
import { planChild, type ChildPlan, type ChildRequest } from "./child-plan.ts";
import { followEnd } from "./follow-end.ts";
import { followInboxes } from "./follow-inboxes.ts";
import { handoffIn } from "../../definition/children/handoff.ts";
import { readSpawnConfig } from "./spawn-config.ts";
import { stillWaits } from "./still-waits.ts";
import type { Waiting, Work } from "./work.ts";
import { logErrorOf, workChild } from "./work-child.ts";
import type { LiveRun, ParentRun, RunStarter } from "../../turn/live-run.ts";

export interface BackgroundParts {
  readonly runner: RunStarter;
  readonly parent: ParentRun;
  readonly execution: Execution;
  /** Called when something about the work changed. */
  ring(): void;
}

/** Works a child agent beside the turns: begins it, or takes it up where an earlier process left it. */
export function workAgent({ runner, parent, execution, ring }: BackgroundParts, state: ChildState): Work {
  const session = state.session as SessionId;
  const left = new AbortController();
  let child: LiveRun | undefined;
  let stopped = state.stopping === true;
  let wake = (): void => {};
  const work: Work = {
    state,
    ending: undefined,
    waiting: undefined,
    effects: [],
    handoff: undefined,
    done: run().catch((error: unknown) => end(endedBy(error))),
    stop() {
      stopped = true;
      void child?.stop().catch(() => {});
      wake();
    },
    leave() {
      left.abort("left");
      wake();
    },
  };
  return work;

  async function run(): Promise<void> {
    // Nothing of it happens before the log says that it does.
    await execution.flush();
    if (stopped && (await runner.services.log.head(sessionLog(session))) === 0) return end(neverBegun);
    const plan = planChild(runner, requestOf(state), execution);
    while (!left.signal.aborted) {
      const still = stopped ? undefined : await stillWaits({ runner, parent, execution, plan });
      const waiting = still ?? (await workIt(plan));
      if (waiting === undefined) return;
      work.waiting = waiting;
      ring();
      await news();
      work.waiting = undefined;
    }
  }

  /** @returns what it waits for; nothing when nothing of it goes on here any more */
  async function workIt(plan: ChildPlan): Promise<Waiting | undefined> {
    const { outcome, lost, counts, untrusted } = await workChild({
      plan,
      parent,
      execution,
      name: state.name,
      begun(active) {
        child = active;
        if (stopped) void active.stop().catch(() => {});
      },
    });
    child = undefined;
    if (lost) {
      execution.journal.abandon(logErrorOf(lost));
      // A run that is being aborted hears of it no other way.
      ring();
      return undefined;
    }
    if (isSuspendReason(outcome.reason)) return { reason: outcome.reason, waits: outcome.waits ?? [] };
    work.effects = outcome.effects;
    work.handoff = handoffIn(outcome);
    end({ ...endingOf(outcome), ...(counts && { counts }), ...(untrusted.length > 0 && { untrusted }) });
    return undefined;
  }

  function end(ending: ChildEnding): void {
    work.ending = ending;
    ring();
  }

  /** Something was written to the child or to whoever it waits for, or the run wants it ended. One that works elsewhere is over. */
  async function news(): Promise<void> {
    if (left.signal.aborted) return;
    const { log, orchestrator } = runner.services;
    const isElsewhere = orchestrator?.wake !== undefined;
    if (!isElsewhere && (stopped || execution.signal.aborted || execution.stopping.aborted)) return;
    const following = new AbortController();
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    execution.signal.addEventListener("abort", wake, { once: true });
    execution.stopping.addEventListener("abort", wake, { once: true });
    try {
      const { signal } = following;
      await Promise.race([woken, isElsewhere ? followEnd(log, session, signal) : followInboxes(runner.services, [session], signal)]);
    } finally {
      following.abort("over");
      execution.signal.removeEventListener("abort", wake);
      execution.stopping.removeEventListener("abort", wake);
    }
  }
}

const neverBegun: ChildEnding = { reason: "stopped", text: "", usage: UNKNOWN_USAGE, cost: ZERO_USD };

const AGAIN = "The attempt at this before ended early. Go on where it stopped, without repeating what is done.";

function requestOf({ id, name, session, background }: ChildState): ChildRequest {
  const config = background as JsonObject;
  const { operator, input } = readSpawnConfig(name, config);
  const message = config["retryOf"] === undefined ? input.message : [{ type: "text", text: AGAIN } as const, ...input.message];
  return { id: id as RunId, session: session as SessionId, operator, input: { ...input, message } };
}

function endingOf({ reason, text, usage, cost, estimated, error }: RunOutcome<unknown>): ChildEnding {
  return {
    reason: reason as ChildEnding["reason"],
    text,
    usage,
    cost,
    ...(estimated && { estimated }),
    ...(error && { failure: error.failure }),
  };
}

function endedBy(error: unknown): ChildEnding {
  return { reason: "error", text: "", usage: UNKNOWN_USAGE, cost: ZERO_USD, failure: stepFailureOf(error) };
}
