import { createEphemeralApprovalKeys, type RunnerServices } from "keelson/agent";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import {
  createRunner,
  defineTool,
  type Agent,
  type AgentEvent,
  type RecordedEvent,
  type RunnerOptions,
  type SingleRunner,
  type Tool,
} from "keelson";
import type { Clock } from "keelson/session";
import type { RunOutcome, Run } from "keelson";

/** A clock that moves only when told to, or when somebody waits: waits are over at once, and the time they took has passed. */
export function impatientClock(start = 1_000_000): Clock & { advance(ms: number): void; waits: number[] } {
  let now = start;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    advance(ms) {
      now += ms;
    },
    after(ms, run, options) {
      if (options?.keepAlive === false) return () => {};
      waits.push(ms);
      let cancelled = false;
      queueMicrotask(() => {
        if (cancelled) return;
        now += ms;
        run();
      });
      return () => {
        cancelled = true;
      };
    },
  };
}

type SharedServices = Required<Pick<RunnerServices, "log" | "blobs" | "approvalKeys" | "random">> & {
  readonly clock: ReturnType<typeof impatientClock>;
};

/** Services that several runners share, as processes share a database. */
export function sharedServices(): SharedServices {
  const clock = impatientClock();
  return {
    clock,
    log: createMemoryEventLog({ now: () => clock.now() }),
    blobs: createMemoryBlobStore(),
    approvalKeys: createEphemeralApprovalKeys(),
    random: () => 0.5,
  };
}

export interface Watched<Out> {
  readonly events: readonly AgentEvent[];
  readonly outcome: RunOutcome<Out>;
}

export async function watch<Out>(run: Run<Out>): Promise<Watched<Out>> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return { events, outcome: await run.outcome };
}

export function runnerOf<Out>(agent: Agent<Out>, options: RunnerOptions = {}): SingleRunner<Out> {
  return createRunner({ clock: impatientClock(), random: () => 0.5, ...options, agent });
}

export function types(events: readonly RecordedEvent[]): readonly string[] {
  return events.map((event) => event.type);
}

export function ofType<T extends AgentEvent["type"]>(
  events: readonly RecordedEvent[],
  type: T,
): readonly Extract<AgentEvent, { readonly type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { readonly type: T }> => event.type === type);
}

/** A tool that remembers what it was called with. */
export function recordingTool(
  name: string,
  fields: {
    readonly effect?: "read" | "idempotent" | "write";
    readonly risk?: Tool["risk"];
    readonly output?: (input: unknown) => unknown;
    readonly concurrency?: "shared" | "exclusive";
  } = {},
): Tool & { readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const { output, ...rest } = fields;
  const tool = defineTool({
    name,
    description: `Test tool ${name}.`,
    input: { type: "object" },
    ...rest,
    execute(input) {
      calls.push(input);
      return (output?.(input) ?? `${name} done`) as string;
    },
  });
  return Object.assign(tool, { calls }) as Tool & { readonly calls: unknown[] };
}
