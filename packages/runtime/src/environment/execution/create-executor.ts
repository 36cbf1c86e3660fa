import type { ExecuteRequest, ExecuteResponse, Executor } from "@keelson/protocol";
import { createJobs } from "./jobs.ts";
import { runPipeline } from "./pipeline.ts";
import { processesBelow, type ProcessRoot } from "./process-table.ts";
import type { Wiring } from "./run-process.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EXECUTOR_METHODS } from "../../json/interface-methods.ts";

/** An executor that can do all there is. */
export type CommandExecutor = Executor & Required<Pick<Executor, "pipeline" | "jobs" | "processes">>;

/**
 * All that an executor can do, from how it runs one command.
 * @param run tells `wiring.onStart` the program, once it runs; `mark` is the variable by which those that leave its group are known
 */
export function createExecutor(
  run: (request: ExecuteRequest, wiring: Wiring, mark: string) => Promise<ExecuteResponse>,
  newMark: () => string,
): CommandExecutor {
  const roots = new Set<ProcessRoot>();
  const runTracked = async (request: ExecuteRequest, wiring: Wiring = {}): Promise<ExecuteResponse> => {
    const mark = newMark();
    let root: ProcessRoot | undefined;
    try {
      return await run(
        request,
        {
          ...wiring,
          onStart(program) {
            if (root !== undefined) roots.delete(root);
            roots.add((root = { pid: program.pid, mark }));
            wiring.onStart?.(program);
          },
        },
        mark,
      );
    } finally {
      if (root !== undefined) roots.delete(root);
    }
  };
  const executor: CommandExecutor = {
    execute: (request) => runTracked(request),
    pipeline: (stages, request) => runPipeline(runTracked, stages, request),
    jobs: createJobs(runTracked),
    processes: () => processesBelow([...roots]),
  };
  return checkMethodOptions("exec", executor, EXECUTOR_METHODS);
}
