import { AgentError, type JsonValue, type ToolCallPart } from "@keelson/protocol";
import { arrivedIntegers, jsonInText, parseArguments, parseJson, withoutFence } from "../../../json/index.ts";
import { formatIssue } from "../../../schema/schema-issue.ts";
import { roundedInteger } from "../../../tools/long-integers.ts";
import { prepareCall } from "../../../tools/prepare-call.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import type { OutputForm } from "../../definition/output/output-form.ts";
import { unwrapOutput } from "../../definition/output/output-schema.ts";

/** Whether a response holds the output. `message` is for the model where it says more than the issues. */
export type ReadOutput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[]; readonly message?: string };

const MAX_ISSUES = 10;
const MAX_ISSUE_LENGTH = 500;
/** Values of one text that are held against the schema: a citation in brackets is one, too. */
const MAX_VALUES = 1_000;

/** Reads the input of a call of the output's tool: slips that are safe to repair are. */
export async function readCall(tool: NonNullable<OutputForm["tool"]>, call: ToolCallPart): Promise<ReadOutput> {
  const prepared = await prepareCall(tool, call);
  if (prepared.ok) return refuseIntegers(prepared.input) ?? { ok: true, value: prepared.value };
  if (prepared.reason === "broken-schema") throw panic("output", prepared.message);
  const { failure, message } = prepared;
  return { ok: false, issues: "issues" in failure ? failure.issues : [failure.message], message };
}

/** The first JSON in a text that fits, whatever stands around it. */
export async function readText(form: OutputForm, text: string): Promise<ReadOutput> {
  let refused: { readonly issues: readonly string[]; readonly length: number } | undefined;
  let seen = 0;
  for (const candidate of jsonInText(text)) {
    if (++seen > MAX_VALUES) break;
    const read = await checkParsed(form, candidate);
    if (read.ok) return read;
    // What is told is what is wrong with the longest one: that was meant to be the output.
    const { length } = JSON.stringify(candidate);
    if (refused === undefined || length > refused.length) refused = { issues: read.issues, length };
  }
  if (refused) return { ok: false, issues: refused.issues };
  const repaired = await repairedIn(text);
  if (repaired !== undefined) return checkParsed(form, repaired);
  return { ok: false, issues: [text.trim() === "" ? "the response is empty" : "there is no complete JSON in the response"] };
}

/** A text that is nothing but JSON that fits: what models write that should have called a tool. */
export async function readWholeText(form: OutputForm, text: string): Promise<ReadOutput> {
  let value: JsonValue;
  try {
    value = parseJson(withoutFence(text.trim()));
  } catch {
    return { ok: false, issues: [] };
  }
  return checkParsed(form, value);
}

async function checkParsed(form: OutputForm, value: JsonValue): Promise<ReadOutput> {
  return refuseIntegers(value) ?? (await checkValue(form, unwrapOutput(value, form.wrapped)));
}

/** Refuses an output that holds integers which no double keeps: the reader of the output would get another number, or a text. */
function refuseIntegers(value: JsonValue): Extract<ReadOutput, { readonly ok: false }> | undefined {
  const integers = arrivedIntegers(value);
  if (integers.length === 0) return undefined;
  const issues = integers.slice(0, MAX_ISSUES).map(({ path, digits }) => {
    const message = `${cut(digits)} has more digits than a number keeps: write it as text if a text is taken here, else give a number of at most 15 digits`;
    return formatIssue({ path, message });
  });
  return { ok: false, issues };
}

/** @throws AgentError of kind `panic` when the schema itself throws */
export async function checkValue(form: OutputForm, value: unknown): Promise<ReadOutput> {
  let result: Awaited<ReturnType<OutputForm["validate"]>>;
  try {
    result = await form.validate(value);
  } catch (error) {
    throw panic("output", `the schema of "output" threw: ${describeThrown(error)}`, error);
  }
  if (result.issues === undefined) {
    const rounded = roundedInteger(value, result.value);
    return rounded === undefined ? { ok: true, value: result.value } : { ok: false, issues: [rounded] };
  }
  const { issues } = result;
  const shown = issues.slice(0, MAX_ISSUES).map((issue) => cut(formatIssue(issue)));
  return { ok: false, issues: issues.length > shown.length ? [...shown, `and ${issues.length - shown.length} more`] : shown };
}

/** A slip of notation in the one list or object of a text. */
async function repairedIn(text: string): Promise<JsonValue | undefined> {
  const from = text.search(/[{[]/);
  const to = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (from < 0 || to < from) return undefined;
  const parsed = await parseArguments(text.slice(from, to + 1));
  return parsed.ok ? parsed.value : undefined;
}

function cut(issue: string): string {
  return issue.length > MAX_ISSUE_LENGTH ? `${issue.slice(0, MAX_ISSUE_LENGTH)}…` : issue;
}

export function panic(callback: string, message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "panic", callback, message }, cause === undefined ? {} : { cause });
}
