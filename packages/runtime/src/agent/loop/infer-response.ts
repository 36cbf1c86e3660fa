import type { DurableEvent, ModelFailure, RequestPartSize } from "@keelson/protocol";
import { CIRCUIT_OPEN } from "../../providers/circuit-open.ts";
import type { ModelErrorAction } from "../definition/agent.ts";
import { modelName } from "../definition/model-source.ts";
import { callOnUserMessage } from "../features/plugins/call-plugins.ts";
import { responseFrom, type ModelResponse } from "../turn/model-response.ts";
import { askOnModelError } from "./ask-on-model-error.ts";
import { backOff } from "./back-off.ts";
import { attemptInference, type FailedAttempt, showResponse } from "./attempt-inference.ts";
import { leaveOutTool } from "./leave-out-tools.ts";
import { leaveOutPart } from "./leave-out-part.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { isTooLong } from "./compaction/is-too-long.ts";
import type { RoomLevel } from "./compaction/make-room.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { checkEnding, RunEnding } from "../turn/run-ending.ts";
import { settleUnseen } from "./settle-inference.ts";
import { pluginsOf } from "../features/plugins/loop-plugins.ts";

/**
 * One response of the model: reserve, infer, settle, commit the message; on failure retry, then fall back, then end. `from`
 * is the number of the turn's first model call that is not spoken for.
 */
export async function inferResponse(loop: Loop, turn: string, from: number, system: string | undefined): Promise<ModelResponse> {
  const { execution, limits } = loop;
  let retries = NO_RETRIES;
  const isFirst = turn === "t1" && from === 0;
  let room: RoomLevel | undefined;
  let leftOut = 0;
  let toolsLeftOut = 0;
  let lost = false;
  for (let modelCall = from; ; modelCall++) {
    const key = `${turn}/infer/${modelCall}`;
    const settled = execution.lookup(`${key}/answer`, "answer");
    if (settled) {
      const response = responseFrom(loop, settled.data, modelCall);
      await showResponse(loop, key, response);
      return response;
    }
    const failed = execution.lookup(`${key}/failed`, "inference-failed")?.data;
    let attempt: FailedAttempt;
    if (failed) attempt = failed;
    else {
      checkEnding(loop);
      if (execution.has(key)) {
        await settleUnseen(loop, key);
        continue;
      }
      const used = runOf(loop).totals.modelCalls;
      if (used >= limits.maxModelCalls)
        throw new RunEnding("max-turns", { limit: { name: "maxModelCalls", limit: limits.maxModelCalls, used } });
      const plugins = pluginsOf(loop);
      if (plugins !== undefined && plugins.onUserMessage.length > 0 && runOf(loop).unreadMessages.length > 0)
        await callOnUserMessage(loop, plugins);
      if (isTooLong(loop)) room = await makeRoomAhead(loop, `${turn}/compact/${modelCall}/ahead`, room);
      const outcome = await attemptInference(loop, key, modelCall, system, isFirst);
      if ("response" in outcome) return outcome.response;
      attempt = outcome;
    }
    let { failure } = attempt;
    if (failure.kind === "cancelled" && !execution.signal.aborted) {
      await loop.readInbox();
      checkEnding(loop);
      recordRetry(loop, key, { attempt: 0, reason: "interrupted", delayMs: 0 });
      continue;
    }
    checkEnding(loop);
    // The server gave the connection up unasked: there is nothing to wait for, and nothing to count as a retry, once.
    lost = attempt.lost === true && !lost;
    if (lost) {
      recordRetry(loop, key, { attempt: 0, reason: "lost-connection", delayMs: 0, failure });
      continue;
    }
    if (leaveOutTool(loop, failure, toolsLeftOut)) {
      toolsLeftOut++;
      recordRetry(loop, key, { attempt: 0, reason: "refused-part", delayMs: 0, failure });
      continue;
    }
    if (leaveOutPart(loop, key, failure, leftOut)) {
      leftOut++;
      recordRetry(loop, key, { attempt: 0, reason: "refused-part", delayMs: 0, failure });
      continue;
    }
    if (failure.kind === "context-overflow") {
      const { makeRoom } = await import("./compaction/make-room.ts");
      const further = await makeRoom(loop, `${turn}/compact/${modelCall}`, room);
      if (further !== undefined) {
        room = further;
        recordRetry(loop, key, { attempt: 0, reason: failure.kind, delayMs: 0, failure });
        continue;
      }
      const { overflowParts } = await import("./compaction/overflow-parts.ts");
      const parts = overflowParts(loop, system);
      failure = { ...failure, message: nothingLeft(failure, parts), parts };
    }
    retries = await decideAfterFailure(loop, key, { ...attempt, failure }, retries);
  }
}

/** Goes as far as it takes until the request is short enough, as far as that is known; once for each request. */
async function makeRoomAhead(loop: Loop, key: string, from: RoomLevel | undefined): Promise<RoomLevel | undefined> {
  const { makeRoom } = await import("./compaction/make-room.ts");
  let room = from;
  for (let step = 0; isTooLong(loop); step++) {
    const further = await makeRoom(loop, step === 0 ? key : `${key}/${step}`, room);
    if (further === undefined) break;
    room = further;
  }
  return room;
}

function nothingLeft({ message }: ModelFailure, parts: readonly RequestPartSize[]): string {
  const left = parts.map(({ part, tokens }) => `${part} (about ${tokens} tokens)`).join(", ");
  return `The conversation does not fit, and nothing more of it can be left out (${message}). What is left: ${left}. Send less at once, or choose a model that reads more; the session can be gone on with.`;
}

/** The retries on the current model, those of responses that came whole apart: neither kind uses up the other's. */
interface Retries {
  readonly ofRequests: number;
  readonly ofResponses: number;
}

const NO_RETRIES: Retries = { ofRequests: 0, ofResponses: 0 };
/** A response that came whole and is none to go on from is asked for again so often, at most: the same request may give it again. */
const MAX_RESPONSE_RETRIES = 2;

/** What to do about a failure: wait and retry, switch the model, or end. @returns the retries on the current model */
async function decideAfterFailure(loop: Loop, key: string, { failure, unusable }: FailedAttempt, counts: Retries): Promise<Retries> {
  const { execution, limits, agent } = loop;
  const retries = unusable ? counts.ofResponses : counts.ofRequests;
  const maxRetries = unusable ? Math.min(MAX_RESPONSE_RETRIES, limits.maxRetries) : limits.maxRetries;
  // What could not be read may be readable the next time; nobody but this policy takes it for retryable.
  const retryable = failure.kind === "rate-limit" || failure.kind === "server-error" || failure.kind === "invalid-response";
  const fallback = agent.options.fallbackModel === undefined ? undefined : modelName(agent.options.fallbackModel);
  const own = await askOnModelError(loop, key, failure, retries);
  const canFallBack = fallback !== undefined && fallback !== runOf(loop).model;
  // A model that is left alone responds to nobody now: who can go elsewhere does.
  const leftAlone = failure.code === CIRCUIT_OPEN;
  const retryAfterMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  const tooLong = retryAfterMs !== undefined && retryAfterMs > limits.maxRetryDelayMs;
  const mayRetry = retries < maxRetries && !tooLong;
  const action: ModelErrorAction =
    own ??
    (retryable && mayRetry && !(leftAlone && canFallBack)
      ? { type: "retry" }
      : retryable && canFallBack
        ? { type: "switch-model", model: fallback }
        : { type: "abort", message: failure.message });
  if (action.type === "retry" && mayRetry) {
    const attempt = retries + 1;
    if (!execution.has(`${key}/retry`)) {
      const delayMs = retryDelayMs(attempt, retryAfterMs, loop.random(), limits.maxRetryDelayMs);
      recordRetry(loop, key, { attempt, reason: failure.kind, delayMs, failure });
      loop.debug?.(`retry ${attempt} of ${maxRetries} in ${delayMs} ms: ${failure.kind}: ${failure.message}`);
    }
    const recorded = execution.lookup(`${key}/retry`, "retry");
    await execution.flush();
    const delayMs = recorded?.data.delayMs ?? 0;
    await backOff(execution, `${key}/backoff`, (recorded?.at ?? 0) + delayMs, delayMs);
    await loop.readInbox();
    return unusable ? { ...counts, ofResponses: attempt } : { ...counts, ofRequests: attempt };
  }
  const to = action.type === "switch-model" ? action.model : action.type === "retry" && retryable && canFallBack ? fallback : undefined;
  if (to !== undefined && to !== runOf(loop).model) {
    loop.debug?.(`switch from ${runOf(loop).model} to ${to}: ${failure.kind}: ${failure.message}`);
    execution.put(`${key}/switch`, "model-switch", { from: runOf(loop).model, to, reason: failure.kind });
    recordRetry(loop, key, { attempt: 0, reason: failure.kind, delayMs: 0, failure });
    return NO_RETRIES;
  }
  if (execution.has(`${key}/switch`)) return NO_RETRIES;
  const message =
    own?.type === "abort"
      ? own.message
      : tooLong && retryable
        ? `${failure.message}: it asks to wait ${retryAfterMs} ms, and limits.maxRetryDelayMs allows ${limits.maxRetryDelayMs} ms`
        : unusable && retries > 0
          ? `${failure.message}. It was asked again ${retries === 1 ? "once" : `${retries} times`}, without success.`
          : retries > 0
            ? `Max retries (${limits.maxRetries}) exceeded: ${failure.message}`
            : failure.message;
  if (leftAlone && own === undefined) throw new RunEnding("circuit-breaker", { why: failure.message });
  if (failure.kind === "max-output-tokens" && own?.type !== "abort") throw new RunEnding("max-output");
  throw new RunEnding("error", { failure: { kind: "model", message, model: failure } });
}

/** What the attempt said is void from here on, for watchers as for the conversation. */
function recordRetry(loop: Loop, key: string, retry: Omit<Extract<DurableEvent, { readonly type: "retry" }>, "type">): void {
  loop.cut = undefined;
  loop.execution.put(`${key}/retry`, "retry", retry);
}
