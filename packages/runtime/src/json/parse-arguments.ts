import type { JsonValue } from "@keelson/protocol";
import { MAX_JSON_DEPTH } from "./max-json-depth.ts";
import { nestsDeeper } from "./nests-deeper.ts";
import { parseJson } from "./parse-json.ts";
import { sentValue } from "./sent-value.ts";

export type ParsedArguments =
  /** `repaired`: the text was no JSON, but could mean only this. */
  | { readonly ok: true; readonly value: JsonValue; readonly repaired: boolean }
  /** `message` describes the error for the author of the text. */
  | { readonly ok: false; readonly reason: "truncated" | "invalid"; readonly message: string };

const FENCE = /^```[a-z0-9]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```$/i;

/**
 * Reads the arguments of a tool call. No text and `null` mean no arguments. A slip of notation (a fence, single quotes,
 * bare keys, a missing or trailing comma, a bad escape, a raw line break in a string) is repaired, and so is what gateways put
 * around an object ({@link sentValue}); what may have been cut off, or would have to be guessed, is not: half a command must not run.
 */
export async function parseArguments(text: string): Promise<ParsedArguments> {
  try {
    return accept(parseJson(text));
  } catch (error) {
    const trimmed = text.trim();
    if (trimmed === "") return { ok: true, value: {}, repaired: false };
    return await repair(trimmed.replace(/^\ufeff/, ""), error);
  }
}

function accept(value: JsonValue): ParsedArguments {
  if (value === null) return { ok: true, value: {}, repaired: false };
  if (nestsDeeper(value, MAX_JSON_DEPTH))
    return { ok: false, reason: "invalid", message: `The arguments are nested deeper than ${MAX_JSON_DEPTH} levels.` };
  return { ok: true, value, repaired: false };
}

async function repair(text: string, error: unknown): Promise<ParsedArguments> {
  const body = withoutFence(text);
  const opener = body[0];
  if (opener !== "{" && opener !== "[") {
    if (text.startsWith("```") && body === text) return truncated;
    return invalid(error instanceof Error ? error.message : String(error));
  }
  const sent = sentValue(body);
  if (sent.type === "truncated") return truncated;
  if (sent.type === "ambiguous") return invalid(sent.message);
  return await repairClosed(sent.text, error);
}

/** What stands in the fence that is all of a text; else the text. */
export function withoutFence(text: string): string {
  return FENCE.exec(text)?.[1]?.trim() ?? text;
}

async function repairClosed(body: string, error: unknown): Promise<ParsedArguments> {
  const strict = parseStrictly(body);
  if (strict !== undefined) {
    const accepted = accept(strict);
    return accepted.ok ? { ...accepted, repaired: true } : accepted;
  }
  const { jsonrepair } = await import("jsonrepair");
  let value: JsonValue;
  try {
    value = parseJson(jsonrepair(keepBackslashes(body)));
  } catch {
    return invalid(error instanceof Error ? error.message : String(error)); // what was wrong with the text, not with the attempt
  }
  // Two values in a row become a list of them: that is not what was written.
  if (Array.isArray(value) !== (body[0] === "[")) return invalid("there is more than one value");
  const accepted = accept(value);
  return accepted.ok ? { ...accepted, repaired: true } : accepted;
}

function parseStrictly(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|["'`\\/bfnrt])|\\/g;

/** A backslash that escapes nothing stands for itself: in `"\d+"` a repair would drop it, and search for another pattern. */
function keepBackslashes(text: string): string {
  return text.replace(ESCAPE, (escape) => (escape === "\\" ? "\\\\" : escape));
}

const truncated: ParsedArguments = {
  ok: false,
  reason: "truncated",
  message: "The arguments end before they are complete; they look cut off. Send the call again, in smaller parts if they are long.",
};

function invalid(problem: string): ParsedArguments {
  return { ok: false, reason: "invalid", message: `The arguments are not valid JSON: ${problem}.` };
}
