import type { JsonObject, JsonValue, RunId } from "@keelson/protocol";

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
