import type { JsonValue, RunId, SessionId } from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";
import type { ChildEnding, ChildState } from "../../session/child-state.ts";
import { stepFailureOf, type Execution } from "../../session/execution.ts";
import type { Work } from "./work.ts";

/** What a background task is given beside its input. */
export interface TaskCall {
  readonly taskId: string;
  readonly runId: RunId;
  readonly session: SessionId;
  /** The same whenever this task is begun, in any process. */
  readonly idempotencyKey: string;
  /** Fires when the task is stopped, or its run is over. What it returns after that reaches nobody. */
  readonly signal: AbortSignal;
  /** Told to watchers as a `task` event: at the next border of a turn, or at once while the run waits. Of several, the newest. */
  progress(payload: JsonValue): void;
}

/** Does the background tasks of the agents of a runner. */
export interface TaskRunner {
  /**
   * What it returns is put before the model, and so is why it failed. After a crash it is begun again with the same
   * `idempotencyKey`.
   */
  run(description: string, input: JsonValue, call: TaskCall): Promise<JsonValue | undefined> | JsonValue | undefined;
}

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
      return { reason: "complete", text: "", value: value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue) };
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

/** Work that does not heed its signal is left behind. */
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
