import type { JsonObject, JsonValue, Tool, ToolFailure, ValidationResult } from "@keelson/protocol";
import { exactInput, markCopy, markMember, MAX_JSON_DEPTH, nestsDeeper, parseArguments, parseJson } from "../json/index.ts";
import { describeValue, exampleOf, formatIssue, listKeys } from "../schema/index.ts";
import { describeThrown } from "./describe-thrown.ts";
import { explainIntegers, roundedInteger } from "./long-integers.ts";
import { translateArguments } from "./translate-arguments.ts";

/** What the model sent: its arguments parsed, or the text of them where they did not parse (or nobody tried). */
export interface CallArguments {
  readonly input?: JsonValue | undefined;
  readonly inputText?: string;
}

export type PreparedCall =
  | {
      readonly ok: true;
      /** The final arguments as JSON: what is recorded, matched by permissions and shown to approvers. */
      readonly input: JsonObject;
      /** What the schema made of them (defaults, transforms): what `execute` gets. */
      readonly value: unknown;
      /** Whether `input` is not just what the model wrote. */
      readonly repaired: boolean;
    }
  /** `message` is for the model: what is wrong, what it sent, and how a call looks. */
  | {
      readonly ok: false;
      readonly reason: "truncated" | "invalid" | "schema" | "broken-schema";
      readonly message: string;
      readonly failure: ToolFailure;
    };

const MAX_ISSUES = 10;
const MAX_ISSUE_LENGTH = 500;

/** The gates *parse* and *validate* of one call. Runs nothing of the tool but its schema, and never throws. */
export async function prepareCall(tool: Tool, call: CallArguments): Promise<PreparedCall> {
  if (call.input === undefined) return prepareText(tool, call.inputText ?? "");
  if (nestsDeeper(call.input, MAX_JSON_DEPTH))
    return refuse(tool, "invalid", [`The arguments are nested deeper than ${MAX_JSON_DEPTH} levels.`]);
  return check(tool, exactInput(call) ?? call.input ?? {}, false);
}

async function prepareText(tool: Tool, text: string): Promise<PreparedCall> {
  const parsed = await parseArguments(text);
  return parsed.ok ? check(tool, parsed.value, parsed.repaired) : refuse(tool, parsed.reason, [parsed.message]);
}

/** Holds arguments against the tool's schema. */
async function check(tool: Tool, given: JsonValue, wasRepaired: boolean): Promise<PreparedCall> {
  // Some models encode their arguments twice.
  const inner = typeof given === "string" ? parsed(given) : undefined;
  const [sent, wasDecoded] = isObject(inner) || isEmptyList(inner) ? [inner, true] : [given, wasRepaired];
  // Gateways in PHP write an empty object as an empty list.
  const written = isEmptyList(sent) ? {} : sent;
  if (!isObject(written)) return refuse(tool, "invalid", [`The arguments must be a JSON object, not ${describeValue(written)}.`]);
  const input = translateArguments(tool, written);
  const repaired = wasDecoded || input !== sent;
  try {
    const result = await tool.parse(input);
    if (result.issues === undefined) return accept(tool, input, result.value, repaired);
    const decoded = decodeMembers(tool, input, result.issues);
    if (decoded !== undefined) {
      const second = await tool.parse(decoded);
      if (second.issues === undefined) return accept(tool, decoded, second.value, true);
    }
    const issues = explainIntegers(input, result.issues);
    return refuse(tool, "schema", issues.slice(0, MAX_ISSUES).map(describeIssue), issues.length, input);
  } catch (cause) {
    return brokenSchema(tool, cause);
  }
}

/** Takes arguments that the schema accepts, unless it made another number of an integer that came as text. */
function accept(tool: Tool, input: JsonObject, value: unknown, repaired: boolean): PreparedCall {
  const rounded = value === input ? undefined : roundedInteger(input, value);
  return rounded === undefined ? { ok: true, input, value, repaired } : refuse(tool, "schema", [rounded]);
}

function brokenSchema(tool: Tool, cause: unknown): PreparedCall {
  const message = `The arguments for the tool "${tool.name}" could not be checked: ${describeThrown(cause)}`;
  return { ok: false, reason: "broken-schema", message, failure: { kind: "invalid-definition", tool: tool.name, message } };
}

type Issues = NonNullable<ValidationResult<unknown>["issues"]>;

/**
 * Models write nested lists and objects as JSON text now and then (`"paths": "[\"a\"]"`). Where the schema refuses such a
 * text and wants only what the text holds, that is what was meant.
 */
function decodeMembers(tool: Tool, input: JsonObject, issues: Issues): JsonObject | undefined {
  const properties = (tool.inputSchema["properties"] ?? {}) as JsonObject;
  let decoded: { [name: string]: JsonValue | undefined } | undefined;
  for (const { path } of issues) {
    const name = path?.length === 1 ? String(path[0]) : undefined;
    if (name === undefined || !Object.hasOwn(properties, name)) continue;
    const text = input[name];
    const type = (properties[name] as JsonObject | undefined)?.["type"];
    if (typeof text !== "string" || (type !== "array" && type !== "object")) continue;
    const value = parsed(text);
    if (type === "array" ? !Array.isArray(value) : !isObject(value)) continue;
    decoded ??= markCopy({ ...input }, input);
    decoded[name] = value;
    markMember(decoded, name, value);
  }
  return decoded;
}

function describeIssue(issue: Issues[number]): string {
  const text = formatIssue(issue);
  return text.length > MAX_ISSUE_LENGTH ? `${text.slice(0, MAX_ISSUE_LENGTH)}…` : text;
}

function refuse(
  tool: Tool,
  reason: "truncated" | "invalid" | "schema",
  issues: readonly string[],
  count: number = issues.length,
  input?: JsonObject,
): PreparedCall {
  const lines = [`The arguments for the tool "${tool.name}" were not accepted, and it did not run.`];
  if (reason === "schema") {
    lines.push(...issues.map((issue) => `- ${issue}`));
    if (count > issues.length) lines.push(`- and ${count - issues.length} more`);
    if (input !== undefined) lines.push(...describeKeys(tool, input, issues));
  } else {
    lines.push(...issues);
  }
  // What was cut off was probably well formed; an example would only add to the length.
  const example = reason === "truncated" ? undefined : exampleOf(tool.inputSchema);
  if (isObject(example) && Object.keys(example).length > 0) lines.push(`A call looks like this: ${JSON.stringify(example)}`);
  const message = lines.join("\n");
  return { ok: false, reason, message, failure: { kind: "invalid-input", tool: tool.name, issues, message } };
}

/** Libraries' messages name a missing key at best; seeing what it sent beside it lets the model find its slip. */
function describeKeys(tool: Tool, input: JsonObject, issues: readonly string[]): readonly string[] {
  if (issues.some((issue) => issue.includes("provided: "))) return [];
  const required = tool.inputSchema["required"];
  const missing = (Array.isArray(required) ? (required as readonly string[]) : []).filter((key) => !Object.hasOwn(input, key));
  return missing.length === 0 ? [] : [`Missing: ${listKeys(missing)}; provided: ${listKeys(Object.keys(input))}.`];
}

function parsed(text: string): JsonValue | undefined {
  try {
    const value = parseJson(text);
    return nestsDeeper(value, MAX_JSON_DEPTH) ? undefined : value;
  } catch {
    return undefined; // then it is just a text
  }
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
