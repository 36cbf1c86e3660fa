import { textMessage, type Failure, type JsonValue, type Message } from "@keelson/protocol";
import { truncateText } from "../../../json/truncate-text.ts";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import { describeMissingOutput } from "../../../tools/has-output.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../tools/tool-definition.ts";

/** What the model is told of work beside its turns that is over: never a failure as if it were a success, never without what there is. */
export function reportOf({ kind, name, id }: ChildState, ending: ChildEnding): Message {
  const { reason, text, value, failure } = ending;
  const subject = `The background ${kind} "${name}" (${id})`;
  if (kind === "job" && value !== undefined) return told(`${subject} has ended: ${inWords(value)}`);
  if (hasEndedWell(ending)) {
    const output = kind === "task" ? inWords(value) : text;
    if (output.trim() !== "") return told(`${subject} is done:\n${output}`);
    return told(kind === "task" ? `${subject} is done. It returned nothing.` : describeMissingOutput(subject, reason));
  }
  const why = failure ? `: ${(failure as Failure & { readonly message?: string }).message ?? failure.kind}` : "";
  return told(`${subject} ended early (${reason})${why}${text === "" ? "" : `\nWhat it had so far:\n${text}`}`);
}

export function hasEndedWell({ reason }: Pick<ChildEnding, "reason">): boolean {
  return reason === "complete" || reason === "no-action" || reason === "handed-off";
}

function inWords(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function told(text: string): Message {
  return textMessage("user", truncateText(text, DEFAULT_MAX_OUTPUT_BYTES).text);
}
