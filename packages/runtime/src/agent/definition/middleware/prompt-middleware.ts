import { AgentError, type MiddlewareInput, type MiddlewareResult, type Tool } from "@keelson/protocol";

/** What of a conversation decides whether it is to be summarised before the next inference. */
export interface ConversationSize {
  readonly messages: number;
  /** As the model counted them last, and about as many for what came since. */
  readonly tokens: number;
  /** `tokens` over what the model can read, 0 to 1; `null` where that is unknown. */
  readonly contextUtilization: number | null;
}

/** Works on what a run begins with, before its agent does. */
export interface PromptMiddleware {
  readonly name: string;
  /**
   * Once at the beginning of a run: may change its input and its context, or end it before the model is asked. `input.messages`
   * is what this run was given (the conversation before it stands in the log as it is); `input.context` is the run's metadata,
   * and what becomes of it is what `instructions`, `onModelError` and others are told as `metadata`. The verdict is recorded.
   * Default: everything goes on as it is.
   */
  process?(input: MiddlewareInput): MiddlewareResult | Promise<MiddlewareResult>;
  /** What it adds to the agent's tools. Asked when the agent is created. */
  tools?(): readonly Tool[];
  /** What it adds to the end of the system prompt, each a paragraph. Asked when the agent is created. */
  systemPromptAdditions?(): readonly string[];
  /** Whether the agent's `compact` shortens the conversation before the next inference. Pure: it is asked again on replay. */
  marksForSummary?(size: ConversationSize): boolean;
}

const PARTS = ["process", "tools", "systemPromptAdditions", "marksForSummary"] as const;

/**
 * Defines a prompt middleware.
 * @throws AgentError of kind `invalid-option` that names the option
 */
export function definePromptMiddleware(middleware: PromptMiddleware): PromptMiddleware {
  checkPromptMiddleware(middleware, "middleware");
  return middleware;
}

/** @throws AgentError of kind `invalid-option` that begins with `option` */
export function checkPromptMiddleware(middleware: unknown, option: string): asserts middleware is PromptMiddleware {
  const given = middleware as Partial<PromptMiddleware> | null | undefined;
  if (typeof given?.name !== "string" || given.name === "")
    throw invalid(option, `${option} is no prompt middleware: it needs a name; make it with definePromptMiddleware`);
  for (const part of PARTS)
    if (given[part] !== undefined && typeof given[part] !== "function")
      throw invalid(`${option}.${part}`, `${option}.${part} of the middleware "${given.name}" must be a function`);
}

function invalid(option: string, message: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${message}.` });
}
