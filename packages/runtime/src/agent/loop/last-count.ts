import { UNKNOWN_USAGE } from "@keelson/protocol";
import type { PlannedRequest } from "../../context/xray/xray-conversation.ts";
import type { SessionState } from "../../session/session-state.ts";

/** What was last counted in a session, where its conversation still holds those messages. */
export function lastCount({ counted, conversation }: SessionState): Pick<PlannedRequest, "last"> {
  if (counted === undefined || counted.messages > conversation.length) return {};
  const { messages, ...tokens } = counted;
  return { last: { messages, usage: { ...UNKNOWN_USAGE, ...tokens } } };
}
