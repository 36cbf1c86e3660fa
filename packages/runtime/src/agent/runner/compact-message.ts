import type { InboxMessage } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { invalidOption, shown } from "../definition/invalid-option.ts";

/** Makes the message that asks for a compaction. @throws AgentError of kind `invalid-option` */
export function compactMessage(method: string, options: { readonly keep?: string | undefined }): InboxMessage {
  checkOptionNames(method, options, { keep: true });
  const { keep } = options;
  if (keep !== undefined && (typeof keep !== "string" || keep.trim() === ""))
    throw invalidOption("keep", `must be a text that says what to keep, not ${shown(keep)}`);
  return { type: "compact", ...(keep !== undefined && { keep }) };
}
