import type {
  Authority,
  ChildSpec,
  DurableEvent,
  ExecutionContext,
  OperatorOutput,
  RunId,
  SessionId,
  TransientEvent,
} from "@keelson/protocol";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { OperatorContext } from "../../orchestration/operator-context.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface MockExecutionContextOptions {
  readonly clock?: Clock | undefined;
  readonly runId?: string | undefined;
  readonly session?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadline?: number | undefined;
  readonly authority?: Authority | undefined;
  readonly startChild?: ((spec: ChildSpec) => Promise<OperatorOutput>) | undefined;
}

/** What a mock context was told, beside what it is. */
export interface MockExecutionContext {
  readonly context: ExecutionContext & Pick<OperatorContext, "write">;
  /** Everything that was committed or emitted, in order. */
  readonly events: readonly (DurableEvent | TransientEvent)[];
}

/** An execution context for one operator under test: steps happen once, decisions are taken once, as in a run, over a log in memory. Write to its inbox with `context.write`. */
export function mockExecutionContext(options: MockExecutionContextOptions = {}): MockExecutionContext {
  checkOptionNames("mockExecutionContext", options, {
    clock: true,
    runId: true,
    session: true,
    signal: true,
    deadline: true,
    authority: true,
    startChild: true,
  });
  const {
    clock = systemClock,
    runId = "r_mock",
    session = "mock",
    signal = new AbortController().signal,
    authority = { policies: [], depth: 8 },
  } = options;
  const events: (DurableEvent | TransientEvent)[] = [];
  const context = new OperatorContext({
    clock,
    operator: "mock",
    runId: runId as RunId,
    session: session as SessionId,
    signal,
    authority,
    ...(options.deadline !== undefined && { deadline: options.deadline }),
    onEvent: (event) => void events.push(event),
    ...(options.startChild && { startChild: (spec: ChildSpec) => options.startChild?.(spec) as Promise<OperatorOutput> }),
  });
  return { context, events };
}
