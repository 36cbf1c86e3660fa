import { OrchestratorError, toOrchestratorError, type DispatchResult, type Orchestrator } from "@keelson/protocol";
import { inputOf, optionsAt, type PatternOptions, type PatternTask } from "./pattern-task.ts";
import { checkOptionNames } from "../../json/option-names.ts";

export interface FanOutTask {
  readonly operator: string;
  readonly task: PatternTask;
}

export interface FanOutOptions extends PatternOptions {
  /** Dispatches at once. Default 16. */
  readonly maxParallel?: number | undefined;
}

/**
 * Many tasks side by side. Results stand in the order of the tasks, whichever ends first, and each fails alone. Once `signal` fires,
 * what has not begun is not begun: its result is the error `cancelled`.
 */
export async function fanOut(
  orchestrator: Pick<Orchestrator, "dispatch">,
  tasks: readonly FanOutTask[],
  options: FanOutOptions = {},
): Promise<readonly DispatchResult[]> {
  checkOptionNames("fanOut", options, {
    maxParallel: true,
    id: true,
    parent: true,
    parentSession: true,
    deadline: true,
    authority: true,
    signal: true,
  });
  const { maxParallel = 16, signal } = options;
  if (!(maxParallel >= 1)) throw new OrchestratorError({ kind: "other", message: `maxParallel must be at least 1, not ${maxParallel}.` });
  const results: DispatchResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) {
      const { operator, task } = tasks[index] as FanOutTask;
      results[index] = signal?.aborted ? cancelled(operator) : await dispatchOne(orchestrator, operator, task, optionsAt(options, index));
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, tasks.length) }, work));
  return results;
}

async function dispatchOne(
  orchestrator: Pick<Orchestrator, "dispatch">,
  operator: string,
  task: PatternTask,
  options: ReturnType<typeof optionsAt>,
): Promise<DispatchResult> {
  try {
    return { ok: true, output: await orchestrator.dispatch(operator, inputOf(task), options) };
  } catch (error) {
    return { ok: false, error: toOrchestratorError(error).toJSON() };
  }
}

function cancelled(operator: string): DispatchResult {
  return {
    ok: false,
    error: new OrchestratorError({ kind: "cancelled", message: `"${operator}" was cancelled before it began.` }).toJSON(),
  };
}
