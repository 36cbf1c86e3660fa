import type { BlobStore, EventLog, JsonValue } from "@keelson/protocol";
import { createMemoryBlobStore, createMemoryEventLog } from "../../src/state/index.ts";
import { finish, type Finished } from "./finish.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import type { Run } from "../../src/agent/definition/run.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createPoints, pointsUntil, type Points } from "./points.ts";
import { readOnlyBlobs, readOnlyLog } from "./rehearsed.ts";
import { type OpenRunner, openScenario, SESSION } from "./scenario.ts";
import { type SideEffect, type SideEffects, sideEffectsInMemory } from "./side-effects.ts";

const TTL_MS = 30_000;

/** Stores in memory that outlive the "processes" working with them, which stop where they are told to and are never heard of again. */
export interface SimulatedLives {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly effects: SideEffects;
  /** Works until the run is over, or until `place`; at that a later life may take over. @returns the places it passed */
  live(place?: string): Promise<{ readonly passed: readonly string[]; readonly finished?: Finished }>;
  /** A later life takes the run up, and nobody answers what it asks. */
  resume(open?: OpenRunner): Promise<Run<unknown>>;
  /** One that must only read, with a world of its own. */
  look(open: OpenRunner, world: { readonly points: Points; readonly effects: SideEffects }): SingleRunner;
}

export function simulateLives({
  open = openScenario,
  ...options
}: { readonly withoutLedger?: boolean; readonly open?: OpenRunner } = {}): SimulatedLives {
  let now = 1_700_000_000_000;
  let lives = 0;
  const log = createMemoryEventLog({ now: () => now });
  const blobs = createMemoryBlobStore();
  const effects = sideEffectsInMemory();
  const begin = (points: Points, openLife = open): SingleRunner => {
    lives++;
    // In memory nobody knows that an owner is dead: its lease ends.
    now += TTL_MS + 1;
    return openLife({ log, blobs, effects, points, owner: `life-${lives}`, leaseTtlMs: TTL_MS, now: () => now, ...options });
  };
  return {
    log,
    blobs,
    effects,
    resume: (openLife) => begin(createPoints(), openLife).resume(SESSION),
    look: (openLook, world) => openLook({ log: readOnlyLog(log), blobs: readOnlyBlobs(blobs), now: () => now, ...world }),
    async live(place) {
      const points = pointsUntil(place);
      const runner = begin(points);
      const finished = await Promise.race([finish(runner, log, effects), points.died]);
      return { passed: points.passed, ...(finished !== undefined && { finished }) };
    },
  };
}

/** What the scenario comes to when it is left alone. */
export async function undisturbed(): Promise<{
  readonly normalised: readonly JsonValue[];
  readonly passed: readonly string[];
  readonly text: string;
  readonly effects: readonly SideEffect[];
}> {
  const lives = simulateLives();
  const { passed, finished } = await lives.live();
  if (finished === undefined || finished.outcome.reason !== "complete")
    throw new Error(`the scenario ends with ${finished?.outcome.reason}: ${finished?.outcome.error?.message}`);
  return { normalised: await normalisedLog(lives.log, SESSION), passed, text: finished.outcome.text, effects: lives.effects.read() };
}

/** What is wrong with a session that crashes and resumes have led to its end. */
export async function faultsAfter(
  log: EventLog,
  effects: SideEffects,
  finished: Finished | undefined,
  expected: { readonly normalised: readonly JsonValue[]; readonly effects: readonly SideEffect[] },
): Promise<readonly string[]> {
  const faults = [...(await faultsOf(log, SESSION))];
  if (finished?.outcome.reason !== "complete")
    faults.push(`it ended with ${finished?.outcome.reason}: ${finished?.outcome.error?.message ?? finished?.outcome.text}`);
  const lines = (await normalisedLog(log, SESSION)).map((line) => JSON.stringify(line));
  const wanted = expected.normalised.map((line) => JSON.stringify(line));
  const at = wanted.findIndex((line, index) => lines[index] !== line);
  if (at >= 0 || lines.length !== wanted.length)
    faults.push(`line ${at} of the normalised log is ${lines[at]}, not ${wanted[at]} (${lines.length} lines, not ${wanted.length})`);
  faults.push(...effectFaults(effects.read(), expected.effects));
  return faults;
}

/** Every act of the undisturbed run was done, none that changes the world more than once; and what may be repeated kept its key. */
export function effectFaults(done: readonly SideEffect[], expected: readonly SideEffect[]): readonly string[] {
  const faults: string[] = [];
  for (const { tool } of expected) {
    const acts = done.filter((act) => act.tool === tool);
    if (acts.length === 0) faults.push(`${tool} was never done`);
    if (tool !== "mark" && acts.length > 1) faults.push(`${tool} was done ${acts.length} times`);
    if (new Set(acts.map(({ key }) => key)).size > 1) faults.push(`${tool} was done under several keys`);
  }
  return faults;
}
