import { toOrchestratorError, type DispatchResult, type DispatchTask, type OperatorOutput } from "@keelson/protocol";

/** Dispatches all at once, for any orchestrator: results stand in the order of the tasks, and each fails alone. */
export function dispatchTasks(
  tasks: readonly DispatchTask[],
  dispatch: (task: DispatchTask) => Promise<OperatorOutput>,
): Promise<readonly DispatchResult[]> {
  return Promise.all(
    tasks.map(async (task): Promise<DispatchResult> => {
      try {
        return { ok: true, output: await dispatch(task) };
      } catch (error) {
        return { ok: false, error: toOrchestratorError(error).toJSON() };
      }
    }),
  );
}
