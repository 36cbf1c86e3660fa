import type { AgentEvent, Message } from "@keelson/protocol";
import { textOfMessage } from "../render/describe-event.ts";

/** Messages that were shown when they were sent to a run under way. The run reports each once it has read it. */
export interface SteeredMessages {
  add(message: Message): void;
  /** True for the report of a message that was shown. Each counts once. */
  isShown(event: AgentEvent): boolean;
}

export function createSteeredMessages(): SteeredMessages {
  const texts: string[] = [];
  return {
    add: (message) => void texts.push(textOfMessage(message)),
    isShown(event) {
      if (event.type !== "steer" || (event.path ?? []).length > 0) return false;
      const index = texts.indexOf(textOfMessage(event.message));
      if (index >= 0) texts.splice(index, 1);
      return index >= 0;
    },
  };
}
