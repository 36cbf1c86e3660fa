import type { Tool } from "@keelson/protocol";
import { createMiddlewareStack, type MiddlewareStack } from "./middleware-stack.ts";
import type { PromptMiddleware } from "./prompt-middleware.ts";

/** Options of an agent for what works on its prompt. */
export interface MiddlewareAgentOptions {
  /** Works on what a run begins with, in this order, and adds tools and text to the prompt: a list, or a stack of which a frozen copy is made. */
  readonly middleware?: Iterable<PromptMiddleware>;
}

/** An agent's frozen stack, and what it adds to the definition. */
export interface AgentMiddleware {
  readonly stack: MiddlewareStack;
  readonly tools: readonly Tool[];
  /** For the end of the system prompt; "" for nothing. */
  readonly promptAddition: string;
}

/** Freezes the middleware of an agent and asks it for what it adds. @throws AgentError of kind `invalid-option` */
export function agentMiddleware({ middleware }: MiddlewareAgentOptions): AgentMiddleware | undefined {
  if (middleware === undefined) return undefined;
  const stack = createMiddlewareStack(middleware).freeze();
  if (stack.size === 0) return undefined;
  return { stack, tools: stack.tools(), promptAddition: stack.systemPromptAdditions().join("\n\n") };
}

/** What of it a run depends on as data; its tools are among those of the agent. */
export function middlewareAsData(middleware: AgentMiddleware | undefined): unknown {
  return middleware && { names: [...middleware.stack].map(({ name }) => name), promptAddition: middleware.promptAddition };
}
