import type { LogId, NewRecord } from "@keelson/protocol";

/**
 * A seam between the runtime and the world. Of a log: `acquire`, `append`, `read`; of blobs: `put`, `get`; of a ledger: `reserve`,
 * `settle`; of an engine: `start` (of a child), `wake` (a session may have something to do), `deliver` (a run is begun, resumed or
 * advanced), `answer` (people or programs outside answer what a run asks). `effect` is an effect that is carried out.
 */
export type ChaosSeam =
  | "acquire"
  | "append"
  | "read"
  | "put"
  | "get"
  | "reserve"
  | "settle"
  | "model"
  | "tool"
  | "reconcile"
  | "effect"
  | "start"
  | "wake"
  | "deliver"
  | "answer";

/** One act at a seam. */
export interface ChaosStep {
  /** `append#7` is the seventh append of a run, counted over all of its processes. */
  readonly id: string;
  readonly seam: ChaosSeam;
  /** What it is about, for people. */
  readonly about: string;
  /** Which process of the run takes it, from 1. */
  readonly process: number;
}

/** The steps of one run, over all of its processes. */
export interface ChaosSteps {
  readonly taken: readonly ChaosStep[];
  take(seam: ChaosSeam, about: string, process: number): ChaosStep;
}

export function countSteps(): ChaosSteps {
  const taken: ChaosStep[] = [];
  const counts = new Map<ChaosSeam, number>();
  return {
    taken,
    take(seam, about, process) {
      const count = (counts.get(seam) ?? 0) + 1;
      counts.set(seam, count);
      const step = { id: `${seam}#${count}`, seam, about, process };
      taken.push(step);
      return step;
    },
  };
}

/** "turn-start, tool-reserved c_… of `send`, to session/chaos" */
export function describeAppend(log: LogId, records: readonly NewRecord[]): string {
  return `${records.map(describeRecord).join(", ") || "nothing"}, to ${log}`;
}

function describeRecord({ type, data }: NewRecord): string {
  const call = typeof data["callId"] === "string" ? ` ${shortId(data["callId"])}` : "";
  const name = data["tool"] ?? (type === "tool-result" || type === "tool-unknown" ? data["name"] : undefined);
  return `${type}${call}${typeof name === "string" ? ` of \`${name}\`` : ""}`;
}

export function shortId(id: string): string {
  return id.length > 10 ? `${id.slice(0, 9)}…` : id;
}
