import type { OperatorOutput } from "@keelson/protocol";
import { Execution } from "../../session/execution.ts";
import type { Journal } from "../../session/journal.ts";
import type { PendingApprovals } from "../features/approvals/pending-approvals.ts";
import { Background } from "../features/children/background.ts";
import { startChildRun } from "../features/children/start-child.ts";
import { notifyEventHooks } from "../features/hooks/event-hooks.ts";
import { hooksOf } from "../features/hooks/loop-hooks.ts";
import { notifyOfStatus } from "../features/hooks/notification-hooks.ts";
import { startWithHooks } from "../features/hooks/subagent-hooks.ts";
import type { PartialOutputs } from "../features/output/partial-outputs.ts";
import type { EventHub } from "../turn/events/event-hub.ts";
import type { ParentRun } from "../turn/live-run.ts";
import type { Loop } from "../turn/loop.ts";
import type { ActiveRunOptions } from "./active-run-options.ts";
import { createLoop } from "./create-loop.ts";
import { openDebugTrace, type DebugTrace } from "./debug-trace.ts";
import type { RunInterrupts } from "./run-interrupts.ts";

export interface OpenLoopOptions {
  readonly options: ActiveRunOptions<unknown>;
  readonly journal: Journal;
  readonly hub: EventHub;
  readonly interrupts: RunInterrupts;
  readonly approvals: PendingApprovals;
  readonly partials: PartialOutputs | undefined;
  /** The run itself, to its children. */
  readonly parent: ParentRun;
}

export interface OpenedLoop {
  readonly loop: Loop;
  /** Whoever opened it closes it. */
  readonly trace: DebugTrace | undefined;
}

/** Binds an agent to one run of it, once its log is open. */
export async function openLoop({ options, journal, hub, interrupts, approvals, partials, parent }: OpenLoopOptions): Promise<OpenedLoop> {
  const { runner, agent, id, session, authority, limits, deadline, moments } = options;
  const { services } = runner;
  let loop: Loop | undefined;
  const execution: Execution = new Execution({
    journal,
    clock: services.clock,
    runId: id,
    session,
    ...(options.parent && { parent: options.parent }),
    signal: interrupts.aborting,
    stopping: interrupts.stopping,
    interrupting: interrupts.interrupting,
    ...(deadline !== undefined && { deadline }),
    authority,
    outside: runner.outside,
    emit: (event) => {
      const events = loop && hooksOf(loop)?.events;
      hub.transient(event, events?.isHidden === true ? events.watcher : undefined);
      if (event.type === "status" && loop !== undefined) notifyOfStatus(loop, event);
    },
    startChild: (spec) => {
      const start = (): Promise<OperatorOutput> => startChildRun(runner, spec, parent, execution);
      return loop === undefined ? start() : startWithHooks(loop, spec, start);
    },
  });
  const trace = openDebugTrace(agent, services, execution);
  try {
    loop = createLoop({
      services,
      agent,
      execution,
      limits,
      hub,
      background: new Background({ runner, parent, execution, maxOpen: limits.maxBackground }),
      approvals,
      toolContext: { runner, inherited: options.inheritedContext },
      statedReason: () => interrupts.why,
      moments,
      ...(partials && { partials }),
      ...(trace && { debug: (message) => trace.say(message) }),
    });
  } catch (error) {
    await trace?.close();
    throw error;
  }
  notifyEventHooks(loop, hub);
  interrupts.stopInferences(loop.attempts);
  return { loop, trace };
}
