import { type InferRequest, ModelError } from "@keelson/protocol";
import type { FailureContext } from "./vendor-failure.ts";

/**
 * Refuses a request without messages, which every vendor refuses or answers from nothing. `members` are the members of the body by which
 * the caller's `extra` may give a conversation instead.
 * @throws ModelError of kind `invalid-request`, before anything is sent
 */
export function requireMessages(request: InferRequest, members: readonly string[], { provider, model }: FailureContext): void {
  if (request.messages.length > 0 || members.some((member) => request.extra?.[member] !== undefined)) return;
  throw new ModelError({
    kind: "invalid-request",
    message: `the request to ${model === "" ? provider : model} has no messages: give at least one message of the user`,
    progress: "unsent",
    provider,
    model,
  });
}
