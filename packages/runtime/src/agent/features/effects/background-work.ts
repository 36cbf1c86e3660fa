import type { JsonObject, JsonValue, RunId } from "@keelson/protocol";
import type { Loop } from "../../turn/loop.ts";
import { PartKey } from "../../turn/run-parts.ts";

/**
 * What runs beside the turns of a run: the half of `RunControl` that starts and stops it. `key` is the same on every attempt at
 * one directive, so that starting twice is starting once.
 */
export interface BackgroundWork {
  spawnAgent(key: string, name: string, config: JsonObject): Promise<RunId>;
  stopChild(key: string, name: string): Promise<number>;
  startTask(key: string, description: string, input: JsonValue): Promise<string>;
  stopTask(key: string, taskId: string): Promise<boolean>;
}

const BACKGROUND_WORK = new PartKey<BackgroundWork>("background work");

/** Absent where nothing works beside the turns: directives about it are unsupported then. */
export function backgroundWorkOf({ parts }: Loop): BackgroundWork | undefined {
  return parts.get(BACKGROUND_WORK);
}

export function bindBackgroundWork({ parts }: Loop, work: BackgroundWork): void {
  parts.set(BACKGROUND_WORK, work);
}
