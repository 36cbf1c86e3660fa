import type { Content } from "@keelson/protocol";
import { listOf, stringOf } from "./fields.ts";

/** Empty text is no part. */
export function textPart(text: string): Content[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Of a string, or of a list of parts. */
export function textIn(value: unknown): string {
  return typeof value === "string"
    ? value
    : listOf(value)
        .map((part) => stringOf(part["text"]))
        .join("\n");
}
