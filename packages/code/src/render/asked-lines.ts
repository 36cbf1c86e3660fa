import type { AskedQuestion, JsonObject, JsonValue } from "@keelson/protocol";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { wrapped } from "../text/wrapped.ts";

/** What a call asks a person while it runs: who asks, its words, the page to open, and what is to be told. None of it is ours. */
export function askedLines(
  { message, from, schema, url, issues = [] }: AskedQuestion,
  { style, columns }: { readonly style: Style; readonly columns: number },
): readonly string[] {
  const rows = printable(message)
    .split("\n")
    .flatMap((line) => wrapped(line, columns - 4));
  return [
    style.dim(`  ${from === undefined ? "it" : printableLine(from)} asks:`),
    ...rows.map((row) => `    ${row}`),
    ...(url === undefined ? [] : [`  open: ${printableLine(url)}`]),
    ...fieldsOf(schema).map((field) => `  ${style.dim("·")} ${field}`),
    ...issues.map((issue) => style.yellow(`  ! ${printableLine(issue)}`)),
  ];
}

function fieldsOf(schema: JsonObject | undefined): readonly string[] {
  const required = Array.isArray(schema?.["required"]) ? (schema["required"] as readonly JsonValue[]) : [];
  return Object.entries(objectOf(schema?.["properties"]) ?? {}).map(([name, value]) => {
    const { type, title, description, enum: choices } = objectOf(value) ?? {};
    const kind = Array.isArray(choices) ? (choices as readonly JsonValue[]).map(String).join(" | ") : String(type ?? "value");
    const words = [title, description].filter((text) => typeof text === "string").join(": ");
    return printableLine(`${name} (${kind}${required.includes(name) ? "" : ", optional"})${words === "" ? "" : ` ${words}`}`);
  });
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
