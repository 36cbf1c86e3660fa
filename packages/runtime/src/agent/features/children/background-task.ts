import type { JsonValue } from "@keelson/protocol";
import { shortHash } from "../../../json/digest.ts";
import { jsonValue } from "../../../json/json-value.ts";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Execution } from "../../../session/execution.ts";
import { stepFailureOf } from "../../../session/step-failure.ts";
import type { Work } from "./work.ts";
import type { TaskCall, TaskRunner } from "../../turn/task-runner.ts";

export interface TaskParts {
  readonly tasks: TaskRunner | undefined;
  readonly execution: Execution;
  ring(): void;
  progress(taskId: string, payload: JsonValue): void;
}

/** Works a task beside the turns. */
export function workTask({ tasks, execution, ring, progress }: TaskParts, state: ChildState): Work {
  const { id: taskId, name: description } = state;
  const controller = new AbortController();
  const abort = (): void => controller.abort(execution.signal.reason);
  const work: Work = {
    state,
    ending: state.settled,
    waiting: undefined,
    effects: [],
    handoff: undefined,
    done: run().then((ending) => {
      work.ending = ending;
      ring();
    }),
    stop: () => controller.abort("stopped"),
    leave: () => controller.abort("left"),
  };
  return work;

  async function run(): Promise<ChildEnding> {
    if (state.settled) return state.settled;
    try {
      await execution.flush();
      if (state.stopping) return { reason: "stopped", text: "" };
      if (tasks === undefined) return failed(`no process here works on tasks: give createRunner \`tasks\``);
      execution.signal.addEventListener("abort", abort, { once: true });
      if (execution.signal.aborted) abort();
      const input = state.background as JsonValue;
      const call: TaskCall = {
        taskId,
        runId: execution.runId,
        session: execution.session,
        idempotencyKey: shortHash(`${execution.runId}/${taskId}`, 32),
        signal: controller.signal,
        progress: (payload) => (controller.signal.aborted || work.ending ? undefined : progress(taskId, payload)),
      };
      const value = await unlessAborted(async () => tasks.run(description, input, call), controller.signal);
      return { reason: "complete", text: "", value: jsonValue(value) };
    } catch (error) {
      if (!controller.signal.aborted) return { reason: "error", text: "", failure: stepFailureOf(error) };
      return { reason: execution.signal.aborted ? "aborted" : "stopped", text: "" };
    } finally {
      execution.signal.removeEventListener("abort", abort);
    }
  }
}

function failed(message: string): ChildEnding {
  return { reason: "error", text: "", failure: { kind: "unsupported", message } };
}

/** Work that ignores its signal is left behind. */
async function unlessAborted<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    const working = run();
    // Whatever becomes of it after it was left behind has nobody to tell.
    working.catch(() => {});
    return await Promise.race([working, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    aborted.catch(() => {});
  }
}
