import { AgentError, type MiddlewareInput, type MiddlewareResult, type Tool } from "@keelson/protocol";
import { checkPromptMiddleware, type ConversationSize, type PromptMiddleware } from "./prompt-middleware.ts";

/** Runs one middleware: where verdicts are recorded, this reads or records its own. */
export type AroundMiddleware = (
  middleware: PromptMiddleware,
  index: number,
  process: () => Promise<MiddlewareResult>,
) => Promise<MiddlewareResult>;

/** Prompt middleware in the order it was added. Iterates over it. */
export interface MiddlewareStack extends Iterable<PromptMiddleware> {
  readonly size: number;
  /**
   * Adds to the end.
   * @throws AgentError of kind `invalid-option` when it is no middleware, or the stack is frozen
   */
  push(middleware: PromptMiddleware): MiddlewareStack;
  /** Nothing more can be added from now on. An agent freezes its own copy. */
  freeze(): MiddlewareStack;
  /** Whether any has something to say about a run's input. */
  readonly processes: boolean;
  /** Passes the input through all of them in order, each given what the one before made of it. Stops at the first that terminates. */
  run(input: MiddlewareInput, around?: AroundMiddleware): Promise<MiddlewareResult>;
  /** The tools of all of them, in order. */
  tools(): readonly Tool[];
  /** The additions of all of them, in order. */
  systemPromptAdditions(): readonly string[];
  /** Whether any may ask for a summary. */
  readonly marks: boolean;
  /** Whether one of them asks for a summary of a conversation of this size. */
  marksForSummary(size: ConversationSize): boolean;
}

/** @throws AgentError of kind `invalid-option` that names the place of what is no middleware */
export function createMiddlewareStack(middleware: Iterable<PromptMiddleware> = []): MiddlewareStack {
  const all: PromptMiddleware[] = [];
  let isFrozen = false;
  const stack: MiddlewareStack = {
    get size() {
      return all.length;
    },
    push(added) {
      if (isFrozen)
        throw new AgentError({
          kind: "invalid-option",
          option: "middleware",
          message: "This stack of middleware is frozen: give the agent one that has everything, or use agent.with({ middleware }).",
        });
      checkPromptMiddleware(added, `middleware[${all.length}]`);
      all.push(added);
      return stack;
    },
    freeze() {
      isFrozen = true;
      return stack;
    },
    get processes() {
      return all.some(({ process }) => process);
    },
    async run(input, around = (_middleware, _index, process) => process()) {
      let current = input;
      for (const [index, one] of all.entries()) {
        if (!one.process) continue;
        const given = current;
        const result = await around(one, index, async () => (one.process as NonNullable<PromptMiddleware["process"]>)(given));
        if (result.type === "terminate") return result;
        current = result.input;
      }
      return { type: "continue", input: current };
    },
    tools: () => all.flatMap((one) => one.tools?.() ?? []),
    systemPromptAdditions: () => all.flatMap((one) => one.systemPromptAdditions?.() ?? []),
    get marks() {
      return all.some(({ marksForSummary }) => marksForSummary);
    },
    marksForSummary: (size) => all.some((one) => one.marksForSummary?.(size) === true),
    [Symbol.iterator]: () => all.values(),
  };
  for (const one of middleware) stack.push(one);
  return stack;
}
