import { AgentError, messageCodec, type JsonObject, type MiddlewareInput, type MiddlewareResult } from "@keelson/protocol";
import { plainJson } from "../../../json/plain-json.ts";
import { describeThrown } from "../../../tools/describe-thrown.ts";
import { runOf, type Loop } from "../../turn/loop.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import type { MiddlewareStack } from "../../definition/middleware/middleware-stack.ts";
import type { PromptMiddleware } from "../../definition/middleware/prompt-middleware.ts";
import type { Step } from "../../turn/moments.ts";

/** Key of the record that holds what a run was given, where middleware decides what becomes of it. */
export const GIVEN_INPUT = "given";

/** Takes a run's input through the agent's middleware, and what comes of it into the conversation. */
export const inputMiddlewareStep: Step = {
  name: "prompt middleware",
  applies: ({ agent }) => agent.middleware?.stack.processes === true,
  run: (loop) => process(loop, loop.agent.middleware?.stack as MiddlewareStack),
};

async function process(loop: Loop, middleware: MiddlewareStack): Promise<void> {
  const { execution } = loop;
  const given = execution.lookup(GIVEN_INPUT, "run-input")?.data.messages;
  // The input of a loop over somebody's context is in the conversation already.
  if (given === undefined) return;
  const input: MiddlewareInput = { messages: given, context: runOf(loop).metadata };
  const result = await middleware.run(input, (one, index, run) =>
    execution.decide(`prologue/middleware/${index}/${one.name}`, async () => checked(one, await guarded(one, run))),
  );
  if (result.type === "terminate") throw new RunEnding("halted", { halted: { by: "middleware", reason: result.reason } });
  const { messages, context } = result.input;
  if (context !== input.context) execution.put("context", "run-context", { context });
  for (const [index, message] of messages.entries()) execution.put(index === 0 ? "input" : `input/${index}`, "message", { message });
}

async function guarded({ name }: PromptMiddleware, run: () => Promise<MiddlewareResult>): Promise<MiddlewareResult> {
  try {
    return await run();
  } catch (cause) {
    throw panic(name, `threw: ${describeThrown(cause)}`, cause);
  }
}

function checked({ name }: PromptMiddleware, result: MiddlewareResult | undefined): MiddlewareResult {
  if (result?.type === "terminate" && typeof result.reason === "string") return { type: "terminate", reason: result.reason };
  const input = result?.type === "continue" ? (result.input as Partial<MiddlewareInput> | undefined) : undefined;
  if (!Array.isArray(input?.messages) || typeof input.context !== "object" || input.context === null)
    throw panic(name, 'must return { type: "continue", input: { messages, context } } or { type: "terminate", reason }');
  if (input.messages.length === 0)
    throw panic(name, 'left no message: answer { type: "terminate", reason } where the model is not to be asked');
  try {
    const messages = input.messages.map((message) => messageCodec.decode(plainJson(message)));
    if (messages.some(({ role }) => role === "tool")) throw new TypeError('a run\'s input has no messages of the role "tool"');
    return { type: "continue", input: { messages, context: plainJson(input.context) as JsonObject } };
  } catch (cause) {
    throw panic(name, `made something else of the input than messages and a context: ${describeThrown(cause)}`, cause);
  }
}

function panic(name: string, what: string, cause?: unknown): AgentError {
  const callback = `middleware "${name}"`;
  return new AgentError({ kind: "panic", callback, message: `${callback} ${what}` }, cause === undefined ? {} : { cause });
}
