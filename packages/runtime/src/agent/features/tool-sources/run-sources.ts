import type { ToolSource, ToolSourcePlace } from "@keelson/protocol";
import type { Clock } from "../../../platform/clock.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { toolServicesOf } from "../../turn/held-services.ts";
import type { Loop } from "../../turn/loop.ts";
import type { McpServers } from "../../turn/mcp-servers.ts";
import { namedServers } from "./named-servers.ts";
import type { Step } from "../../turn/moments.ts";
import { PartKey } from "../../turn/run-parts.ts";
import { RunSource } from "./run-source.ts";

/** The sources of a run, while this process works on it. */
interface RunSources {
  readonly sources: readonly ToolSource[];
  /** Why watchers were told something already. */
  readonly told: Set<string>;
  opened?: OpenedSources;
}

/** The sources as they were opened when this process took the run up. */
export interface OpenedSources {
  readonly all: readonly RunSource[];
  readonly lettingGo: AbortController;
  /** By the clock. */
  readonly openedAt: number;
  /** The first turn waited for those that want it. */
  hasWaited: boolean;
}

const SOURCES = new PartKey<RunSources>("tool sources");

/** What a source may take to close. */
const CLOSE_MS = 5000;

/** Runs whose agent has sources have them. */
export function bindToolSources({ parts, agent }: Loop, mcp: McpServers | undefined): void {
  const named = namedServers(agent, mcp);
  const { toolSources = [] } = agent.options;
  const sources = named === undefined ? toolSources : [...toolSources, named];
  if (sources.length > 0) parts.set(SOURCES, { sources, told: new Set<string>() });
}

/** Before a run's first turn, and when it is taken up. Nobody waits for it. */
export const openToolSourcesStep: Step = {
  name: "sources of tools",
  // A rehearsal goes by what was recorded.
  applies: ({ parts, execution }) => parts.get(SOURCES) !== undefined && execution.outside === undefined,
  run: async (loop) => open(loop, loop.parts.need(SOURCES)),
};

function open(loop: Loop, run: RunSources): void {
  if (run.opened !== undefined) return;
  const { agent, execution } = loop;
  const { runId, session, clock } = execution;
  const { cwd } = agent.options;
  const { environment } = toolServicesOf(loop);
  const lettingGo = new AbortController();
  const place: ToolSourcePlace = {
    runId,
    session,
    agent: agent.name,
    ...(cwd !== undefined && { cwd }),
    ...(environment && { environment }),
    signal: lettingGo.signal,
  };
  const all = run.sources.map((source) => new RunSource(source, place));
  run.opened = { all, lettingGo, openedAt: clock.now(), hasWaited: false };
  for (const source of all) void source.ready.then(() => tellProblems(loop, source.problems));
}

/** Those of a run whose agent has some, while they are open. */
export function openedSources({ parts }: Loop): OpenedSources | undefined {
  return parts.get(SOURCES)?.opened;
}

/** Tells watchers, once in this process. */
export function tellProblems({ parts, execution }: Loop, problems: readonly string[]): void {
  const run = parts.get(SOURCES);
  // Of a source that was closed on the way nobody needs to hear.
  if (run?.opened === undefined) return;
  for (const status of problems) {
    if (run.told.has(status)) continue;
    run.told.add(status);
    execution.emit({ type: "status", status, level: "warn" });
  }
}

/** Before the environment is closed that servers may run in. */
export const closeToolSourcesStep: Step = {
  name: "the end of sources of tools",
  applies: (loop) => openedSources(loop) !== undefined,
  run: closeToolSources,
};

/** When this process lets go of the run. */
export async function closeToolSources({ parts, execution }: Loop): Promise<void> {
  const run = parts.get(SOURCES);
  if (run?.opened === undefined) return;
  const { all, lettingGo } = run.opened;
  delete run.opened;
  lettingGo.abort();
  await Promise.all(
    all.map(async (source) => {
      try {
        await within(execution.clock, CLOSE_MS, source.close());
      } catch (error) {
        const status = `The source of tools "${source.name}" could not be closed: ${describeThrown(error)}`;
        execution.emit({ type: "status", status, level: "warn" });
      }
    }),
  );
}

/** One that hangs holds nobody up. */
async function within(clock: Clock, ms: number, done: Promise<void>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`it is not done after ${ms} ms`)));
  });
  try {
    await Promise.race([done, late]);
  } finally {
    cancel();
  }
}
