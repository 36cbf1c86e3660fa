import { AgentError, messageCodec, ToolError, type ToolInference, type ToolInferenceAnswer } from "@keelson/protocol";
import { digestOf, shortHash } from "../../../json/digest.ts";
import { sourceLine } from "../../../session/untrusted-sources.ts";
import { AttemptSignal } from "../../turn/attempt-signal.ts";
import type { Loop } from "../../turn/loop.ts";
import { RunParts, PartKey } from "../../turn/run-parts.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import { inferBeside } from "../infer-beside.ts";
import type { CallBroker } from "./call-broker.ts";
import { permitInference } from "./permit-inference.ts";

/** UTF-8 bytes of a request, as JSON. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

/**
 * Asks the run's model for a call that runs: permitted, reserved and paid like any inference of the run. What came of it stands in the log:
 * the same request of a repeated call gets that, and nothing is paid twice.
 */
export async function inferInCall(broker: CallBroker, request: ToolInference): Promise<ToolInferenceAnswer> {
  const { loop, call } = broker;
  const number = broker.nextInference();
  const { maxInferencesPerCall } = loop.limits;
  if (number > maxInferencesPerCall)
    return refused(`limits.maxInferencesPerCall is ${maxInferencesPerCall}, and this call asked the model as often as that`);
  const plain = plainRequest(call.tool.name, request);
  if (plain === undefined) return refused(`the request is larger than ${MAX_REQUEST_BYTES} bytes`);
  const who = sourceLine(request.from ?? call.tool.name);
  // Its words come back with the result, in whatever form.
  call.marks.push(who);
  const digest = shortHash(digestOf(plain as never), 16);
  const key = `${call.key}/infer/${number}/${digest}`;
  const known = loop.execution.lookup(`${key}/answer`, "tool-inference");
  if (known !== undefined) return known.data.answer;
  const why = await permitInference(broker, { request: plain, who, key, digest });
  const answer = why === undefined ? await broker.during((signal) => inTurn(loop, () => infer(loop, key, plain, signal))) : refused(why);
  if (answer === undefined) return refused("the call or its run is being ended");
  loop.execution.put(`${key}/answer`, "tool-inference", { callId: call.part.id, answer });
  await loop.execution.flush();
  return answer;
}

/** @returns nothing where it was ended before it came to anything */
async function infer(loop: Loop, key: string, request: ToolInference, signal: AbortSignal): Promise<ToolInferenceAnswer | undefined> {
  if (signal.aborted) return undefined;
  const { from: _from, ...question } = request;
  try {
    const came = await inferBeside({ ...loop, attempts: new AttemptSignal(signal), isBeside: true }, key, question, "tool");
    if (came.type === "nothing") return refused(came.why);
    const { fold, model, bill } = came;
    return {
      type: "response",
      content: fold.content.filter(({ type }) => type === "text"),
      model: model.reference,
      stopReason: fold.end?.stopReason ?? "max-tokens",
      usage: bill.usage,
    };
  } catch (error) {
    // What is spent ends the run where the run itself asks for more, not where a tool does.
    if (error instanceof RunEnding) return error.reason === "budget-exhausted" ? refused(spent(error)) : undefined;
    if (AgentError.is(error, "invalid-option")) return refused(error.message);
    throw error;
  }
}

function spent({ details: { limit } }: RunEnding): string {
  return limit === undefined
    ? "the budget of the run is spent"
    : `the budget is spent: ${limit.name} is ${limit.limit}, and ${limit.used} is used`;
}

const LAST = new PartKey<{ done: Promise<unknown> }>("inferences of tools");

/** One after another: each sees what those before it spent. */
function inTurn<T>({ parts }: { readonly parts: RunParts }, work: () => Promise<T>): Promise<T> {
  const last = parts.get(LAST) ?? { done: Promise.resolve() };
  parts.set(LAST, last);
  const next = last.done.then(work, work);
  last.done = next;
  return next;
}

/** @throws ToolError of kind `invalid-input` for what is no request: a mistake of whoever wrote the tool */
function plainRequest(tool: string, request: ToolInference): ToolInference | undefined {
  const { messages, maxTokens } = request;
  const problem = !Array.isArray(messages) || messages.length === 0 ? "messages are missing" : badTokens(maxTokens);
  if (problem !== undefined) throw invalid(tool, problem);
  const text = JSON.stringify(request);
  if (Buffer.byteLength(text) > MAX_REQUEST_BYTES) return undefined;
  const plain = JSON.parse(text) as ToolInference;
  try {
    return { ...plain, messages: plain.messages.map((message) => messageCodec.decode(message)) };
  } catch (error) {
    throw invalid(tool, error instanceof Error ? error.message : String(error));
  }
}

function badTokens(maxTokens: number): string | undefined {
  return Number.isSafeInteger(maxTokens) && maxTokens >= 1 ? undefined : `maxTokens must be a whole number of at least 1, not ${maxTokens}`;
}

function invalid(tool: string, problem: string): ToolError {
  const message = `${tool} asked the model for nothing that can be asked: ${problem}. Call infer({ messages, maxTokens: 500 }).`;
  return new ToolError({ kind: "invalid-input", tool, issues: [problem], message });
}

function refused(reason: string): ToolInferenceAnswer {
  return { type: "refused", reason };
}
