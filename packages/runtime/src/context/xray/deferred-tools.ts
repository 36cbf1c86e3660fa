import type { InferRequest, ToolSchema } from "@keelson/protocol";
import type { TokenTarget } from "../../providers/token-bound.ts";
import { createTokenCounter } from "../../providers/token-count/create-token-counter.ts";

/** Tools of which the model is told by name alone, and what that saves of each request. */
export interface DeferredTools {
  readonly tools: number;
  /** How many tokens more the request would have with all of them, and without the tool that finds them. */
  readonly tokens: number;
}

/**
 * @param sent the tools of the request
 * @param whole what they would be if none were told by name alone
 */
export async function deferredTools(
  model: string,
  target: TokenTarget,
  { sent, whole, deferred }: { readonly sent: readonly ToolSchema[]; readonly whole: readonly ToolSchema[]; readonly deferred: number },
): Promise<DeferredTools> {
  const counter = createTokenCounter();
  const count = async (tools: readonly ToolSchema[]): Promise<number> => {
    const request: InferRequest = { model, messages: [], tools };
    return (await counter.count(request, target)).tokens;
  };
  return { tools: deferred, tokens: (await count(whole)) - (await count(sent)) };
}
