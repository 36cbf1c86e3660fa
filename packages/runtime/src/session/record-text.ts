import type { Content, LogRecord } from "@keelson/protocol";
import { searchableText } from "../state/kit/searchable-text.ts";
import { isRecordOf } from "./record-data.ts";

/** Of one record. What comes behind is kept, and not found. */
export const MAX_TEXT: number = 32 * 1024;

/** What a record of a session is found by: words of messages, arguments and results of calls, names of the session. "" for all else. */
export function recordText(record: LogRecord): string {
  try {
    return textOf(record).slice(0, MAX_TEXT);
  } catch {
    // Whose data are none that this version knows.
    return "";
  }
}

function textOf(record: LogRecord): string {
  if (isRecordOf(record, "message") || isRecordOf(record, "steer")) return record.data.message.content.map(partText).join("\n");
  if (isRecordOf(record, "tool-result")) return searchableText(record.data.output);
  if (isRecordOf(record, "session-create") || isRecordOf(record, "session-rename")) return record.data.name ?? "";
  return "";
}

function partText(part: Content): string {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text;
    case "tool-call":
      return `${part.name}\n${searchableText(part.input ?? part.inputText)}`;
    case "tool-result":
      return searchableText(part.output);
    case "file":
      return part.name ?? "";
    default:
      return "";
  }
}
