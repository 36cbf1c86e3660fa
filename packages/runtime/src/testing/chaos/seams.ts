import type { InferEvent } from "@keelson/protocol";
import type { ChaosSeam } from "./step.ts";

/** What stands around one process: it counts the steps that the process takes, and has the planned faults befall them. */
export interface Seams {
  /** An act at a step. Nothing happens any more in a process that died: this does not return then. */
  pass<T>(seam: ChaosSeam, about: string, act: () => Promise<T>): Promise<T>;
  /** A response of a model, likewise. */
  stream(about: string, respond: () => AsyncIterable<InferEvent>): AsyncIterable<InferEvent>;
  /** An act that is no step. */
  alive<T>(act: () => Promise<T>): Promise<T>;
}
