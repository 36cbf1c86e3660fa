import { textMessage, type AgentFailure, type JsonValue, type Message, type ToolCallPart } from "@keelson/protocol";
import { messageOperation } from "../../../context/message-operation.ts";
import type { ModelResponse } from "../../turn/model-response.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { OutputForm } from "../../definition/output/output-form.ts";
import { checkValue, panic, readCall, readText, readWholeText, type ReadOutput } from "./read-output.ts";
import { partialsOf } from "./partial-outputs.ts";
import { outputOf } from "./run-output.ts";

/** What comes after a response: the run may end with its output, somebody steered meanwhile, or the model is asked again within the turn. */
export type Settled = "taken" | "steered" | "again";

type Verdict =
  | { readonly taken: number; readonly value: JsonValue }
  | { readonly taken: -1; readonly issues: readonly string[]; readonly messages: readonly string[] };

/**
 * Reads the output from a response. The verdict is a recorded decision, so that a replay asks neither the schema nor a function
 * of the user again. What is not accepted goes back to the model, at most `maxRepairs` times in a run.
 *
 * @param begun what the model wrote of this response before it was cut off and told to go on
 * @throws RunEnding when there were repairs enough
 */
export async function settleOutput(loop: Loop, form: OutputForm, turn: string, response: ModelResponse, begun: string): Promise<Settled> {
  const { calls } = response;
  return calls.length > 0
    ? settleCalls(loop, form, turn, response, calls)
    : settleText(loop, form, turn, response, begun + textOf(response.message));
}

async function settleCalls(
  loop: Loop,
  form: OutputForm,
  turn: string,
  response: ModelResponse,
  calls: readonly ToolCallPart[],
): Promise<Settled> {
  const { execution } = loop;
  const tool = form.tool as NonNullable<OutputForm["tool"]>;
  const first = calls[0]?.id ?? "";
  execution.put(`${turn}/calls/${first}`, "tool-calls-start", {
    calls: calls.map(({ id, name, input, inputText }) => ({ callId: id, name, inputText, ...(input !== undefined && { input }) })),
  });
  const cut = response.stopReason === "max-tokens";
  if (cut && loop.agent.options.onMaxTokens !== "continue") throw new RunEnding("max-output");
  const { verdict, value } = await decide(loop, turn, response, async () => {
    if (cut) return refusal(calls, CUT_OFF);
    const issues: string[] = [];
    const messages: string[] = [];
    for (const [index, call] of calls.entries()) {
      const read = await readCall(tool, call);
      if (read.ok) return { taken: index, value: read.value };
      if (index === 0) issues.push(...read.issues);
      messages.push(read.message ?? read.issues.join("\n"));
    }
    return { taken: -1, issues, messages };
  });
  if (execution.hasUnread) await loop.readInbox();
  for (const [index, call] of calls.entries()) {
    const output = verdict.taken === index ? TAKEN : "messages" in verdict ? (verdict.messages[index] ?? NOT_TAKEN) : NOT_TAKEN;
    const isError = verdict.taken !== index;
    execution.put(`${turn}/call/${call.id}/result`, "tool-result", {
      callId: call.id,
      name: tool.name,
      output,
      isError,
      durationMs: 0,
    });
  }
  execution.put(`${turn}/calls-done/${first}`, "tool-calls-complete", {});
  if (wasRepaired(loop, turn, response)) return "again";
  if (isSteered(loop)) return "steered";
  if ("value" in verdict) return take(loop, verdict.value, value);
  return repair(loop, turn, response, verdict, calls[0]?.inputText ?? "");
}

async function settleText(loop: Loop, form: OutputForm, turn: string, response: ModelResponse, text: string): Promise<Settled> {
  if (wasRepaired(loop, turn, response)) return "again";
  if (loop.execution.hasUnread) await loop.readInbox();
  if (isSteered(loop)) return "steered";
  const { verdict, value } = await decide(loop, turn, response, async () => {
    const read = await readTextBy(loop, form, response, text);
    return read.ok ? { taken: 0, value: read.value } : { taken: -1, issues: read.issues, messages: [] };
  });
  if ("value" in verdict) return take(loop, verdict.value, value);
  const settled = repair(loop, turn, response, verdict, text);
  await tell(loop, `${turn}/repair/${response.modelCall}`, correction(form, verdict));
  return settled;
}

async function readTextBy(loop: Loop, form: OutputForm, response: ModelResponse, text: string): Promise<ReadOutput> {
  if (form.tool !== undefined) {
    const read = await readWholeText(form, text);
    return read.ok || read.issues.length > 0 ? read : { ok: false, issues: [`the output was not given by a call of ${form.tool.name}`] };
  }
  if (form.extract === undefined) return readText(form, text);
  let found: unknown;
  try {
    const run = runOf(loop);
    found = await form.extract(text, {
      session: sessionOf(loop).id,
      runId: run.id,
      model: run.model,
      message: response.message,
      schema: form.schema,
      repairs: run.repairs,
    });
  } catch (error) {
    throw panic("outputMode.extract", `"outputMode.extract" threw: ${describeThrown(error)}`, error);
  }
  return found === undefined ? { ok: false, issues: ["no output was found in the response"] } : checkValue(form, found);
}

type Judged = { readonly taken: number; readonly value: unknown } | Extract<Verdict, { readonly taken: -1 }>;

/** Records the verdict. The value is the schema's own where it was just made, else what the log holds of it. */
async function decide(
  loop: Loop,
  turn: string,
  response: ModelResponse,
  judge: () => Promise<Judged>,
): Promise<{ readonly verdict: Verdict; readonly value: unknown }> {
  let made: { readonly value: unknown } | undefined;
  const verdict = await loop.execution.decide(`${turn}/output/${response.modelCall}`, async (): Promise<Verdict> => {
    const judged = await judge();
    if (!("value" in judged)) return judged;
    made = judged;
    return { taken: judged.taken, value: (judged.value ?? null) as JsonValue };
  });
  return { verdict, value: made === undefined ? ("value" in verdict ? verdict.value : undefined) : made.value };
}

function refusal(calls: readonly ToolCallPart[], issue: string): Extract<Verdict, { readonly taken: -1 }> {
  return { taken: -1, issues: [issue], messages: calls.map(() => `The output was not accepted: ${issue}`) };
}

function take(loop: Loop, output: JsonValue, value: unknown): "taken" {
  outputOf(loop).output = output;
  outputOf(loop).value = value;
  partialsOf(loop)?.finish(value);
  return "taken";
}

/** Whether this response was given back to the model before the process ended: what stands behind it in the conversation says so. */
function wasRepaired(loop: Loop, turn: string, { modelCall }: ModelResponse): boolean {
  return loop.execution.has(`${turn}/repair/${modelCall}`);
}

/** Whoever steered while the model gave its response gets another one. */
function isSteered(loop: Loop): boolean {
  return loop.context.messages.at(-1)?.role === "user";
}

function repair(loop: Loop, turn: string, { modelCall }: ModelResponse, verdict: Verdict, text: string): "again" {
  const { execution, limits } = loop;
  const issues = "issues" in verdict ? verdict.issues : [];
  partialsOf(loop)?.discard();
  if (runOf(loop).repairs >= limits.maxRepairs) {
    const failure: AgentFailure = {
      kind: "invalid-output",
      message: `The model's response does not give the output that was asked for, after ${limits.maxRepairs} repairs: ${issues.join("; ")}. The response was ${JSON.stringify(text.slice(0, 200))}${text.length > 200 ? ", cut here" : ""}.`,
      issues,
      text,
    };
    throw new RunEnding("error", { failure });
  }
  loop.debug?.(`the output was not accepted: ${issues.join("; ")}`);
  execution.put(`${turn}/repair/${modelCall}`, "output-repair", { issues: issues as string[] });
  return "again";
}

/** Puts a message of our own before the model. Rules may look at it, and change it. */
async function tell(loop: Loop, key: string, text: string): Promise<void> {
  await loop.context.run(
    messageOperation("inject-message", key, textMessage("user", text), (message) =>
      loop.execution.put(`${key}/message`, "message", { message }),
    ),
  );
}

function correction(form: OutputForm, verdict: Verdict): string {
  const lines = [
    "Your answer was not accepted:",
    ...("issues" in verdict ? verdict.issues : []).map((issue) => `- ${issue}`),
    form.tool === undefined
      ? form.mode === "custom"
        ? "Give the whole answer again, corrected."
        : "Give the whole answer again, corrected: one JSON value that matches the schema, and nothing else."
      : `Give your final answer by calling ${form.tool.name}: text is not looked at. If something is left to do first, do it.`,
  ];
  return lines.join("\n");
}

const TAKEN = "This was taken as your answer.";
const NOT_TAKEN = "Not looked at: another call of the same response gave the answer.";
const CUT_OFF = "it was cut off at its token limit. Give a shorter one";

export function textOf(message: Message): string {
  let text = "";
  for (const part of message.content) if (part.type === "text") text += part.text;
  return text;
}
