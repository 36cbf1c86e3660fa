import { createInterface } from "node:readline";
import type { InputStream } from "../core/command-host.ts";
import { UsageError } from "../options/usage-error.ts";

const SHAPE = 'Write a line such as {"type": "user", "message": {"role": "user", "content": "fix the build"}}.';

/** Reads the messages of `--input-format stream-json`: a JSON object in each line. Lines without anything in them are passed over. @throws UsageError */
export async function* messageLines(input: InputStream): AsyncIterable<string> {
  let at = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    at++;
    if (line.trim() !== "") yield readMessageLine(line, at);
  }
}

/** @throws UsageError that names the line */
export function readMessageLine(line: string, at: number): string {
  const wrong = (why: string): UsageError => new UsageError(`line ${at} of standard input ${why}`, SHAPE);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong("is no JSON");
  }
  const { type, message } = fieldsOf(value);
  if (type !== "user") throw wrong(`has the type ${JSON.stringify(type)}, and only "user" is read`);
  const { content } = fieldsOf(message);
  if (typeof content === "string" && content.trim() !== "") return content;
  if (!Array.isArray(content) || content.length === 0) throw wrong("has no content");
  const texts = content.map((part) => {
    const { type: kind, text } = fieldsOf(part);
    if (kind !== "text" || typeof text !== "string") throw wrong(`has a part of the type ${JSON.stringify(kind)}, and only texts are read`);
    return text;
  });
  return texts.join("\n\n");
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [name: string]: unknown }) : {};
}
