import { AgentError, textMessage, type Message } from "@keelson/protocol";
import { invalidOption, shown } from "../definition/invalid-option.ts";

/** What somebody says to a run that is at work. @throws AgentError of kind `invalid-option` for what can't be said there */
export function steeringMessage(message: string | Message): Message {
  const steering = typeof message === "string" ? textMessage("user", message) : message;
  if (!Array.isArray(steering?.content))
    throw invalidOption("message", `of steer must be a text or a message such as { role: "user", content }, not ${shown(message)}`);
  if (steering.role === "user" || steering.role === "system") return steering;
  throw new AgentError({
    kind: "invalid-option",
    option: "message",
    message: `steer takes a message of the role user or system, not ${JSON.stringify(steering.role)}.`,
  });
}
