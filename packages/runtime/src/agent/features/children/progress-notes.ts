import type { JsonValue } from "@keelson/protocol";
import { jsonValue } from "../../../json/json-value.ts";
import type { Execution } from "../../../session/execution.ts";

/** The newest progress of each task that is not told yet: a task that reports without end can't flood the log. */
export class ProgressNotes {
  readonly #newest = new Map<string, JsonValue>();
  #told = 0;

  note(taskId: string, payload: JsonValue): void {
    this.#newest.set(taskId, jsonValue(payload));
  }

  /** Puts what was noted since. @param life tells apart the processes that work on one run */
  tell(execution: Execution, life: number): void {
    for (const [taskId, payload] of this.#newest) {
      const key = `background/${taskId}/progress/${life}/${++this.#told}`;
      execution.put(key, "task", { taskId, kind: "progress", payload });
    }
    this.#newest.clear();
  }
}
