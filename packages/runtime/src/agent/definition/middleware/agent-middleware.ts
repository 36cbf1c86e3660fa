import type { Tool } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { invalidOption, shown } from "../invalid-option.ts";
import { createMiddlewareStack, type MiddlewareStack } from "./middleware-stack.ts";
import type { PromptMiddleware } from "./prompt-middleware.ts";

/** Options of an agent for what works on its prompt. */
export interface MiddlewareAgentOptions {
  /** Works on what a run begins with, in this order, and adds tools and text to the prompt: a list, or a stack of which a frozen copy is made. */
  readonly middleware?: Iterable<PromptMiddleware> | undefined;
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
  const given: unknown = middleware;
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given))
    throw invalidOption("middleware", `must be a list of middleware, or a stack made with createMiddlewareStack, not ${shown(middleware)}`);
  const stack = createMiddlewareStack(middleware).freeze();
  if (stack.size === 0) return undefined;
  const all = [...stack];
  const tools = all.flatMap((one, index) => additionsOf(one, index, "tools", isTool, "tools: make them with defineTool"));
  const additions = all.flatMap((one, index) =>
    additionsOf(one, index, "systemPromptAdditions", (text) => typeof text === "string", "texts"),
  );
  return { stack, tools, promptAddition: additions.join("\n\n") };
}

/** What one adds to the definition, asked once. */
function additionsOf<Part extends "tools" | "systemPromptAdditions">(
  middleware: PromptMiddleware,
  index: number,
  part: Part,
  isRight: (value: unknown) => boolean,
  what: string,
): ReturnType<NonNullable<PromptMiddleware[Part]>> {
  const option = `middleware[${index}].${part}`;
  let given: unknown;
  try {
    given = middleware[part]?.() ?? [];
  } catch (cause) {
    throw invalidOption(option, `of "${middleware.name}" must not throw: ${describeThrown(cause)}`, cause);
  }
  if (!Array.isArray(given) || !given.every(isRight))
    throw invalidOption(option, `of "${middleware.name}" must give a list of ${what}, not ${shown(given)}`);
  return given as ReturnType<NonNullable<PromptMiddleware[Part]>>;
}

function isTool(value: unknown): boolean {
  const { execute, parse } = (value ?? {}) as { readonly execute?: unknown; readonly parse?: unknown };
  return typeof execute === "function" && typeof parse === "function";
}

/** What of it a run depends on as data; its tools are among those of the agent. */
export function middlewareAsData(middleware: AgentMiddleware | undefined): unknown {
  return middleware && { names: [...middleware.stack].map(({ name }) => name), promptAddition: middleware.promptAddition };
}
