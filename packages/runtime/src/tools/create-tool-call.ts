import type { CallId, RunId, SessionId, ToolCall } from "@keelson/protocol";

/** A signal that never fires. */
const never: AbortSignal = new AbortController().signal;

/** What a tool is given beside its input, for calls outside of a run: whatever is not said is empty, and nothing aborts it. */
export function createToolCall<Context = unknown>(fields: Partial<ToolCall<Context>> = {}): ToolCall<Context> {
  return {
    callId: "" as CallId,
    runId: "" as RunId,
    session: "" as SessionId,
    agent: "",
    idempotencyKey: "",
    attempt: 1,
    signal: never,
    stopping: never,
    progress() {},
    context: undefined as Context,
    metadata: {},
    ...fields,
  };
}
