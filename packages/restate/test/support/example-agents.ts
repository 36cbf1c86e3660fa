import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { InferRequest } from "@keelson/protocol";
import { agentTool, createAgent, defineTool, type Tool } from "keelson";
import { waitForSignalTool, type Agents } from "keelson/agent";
import { z } from "zod";
import { scriptedModel, type ScriptedModel, type ScriptedResponse } from "keelson/testing";

/**
 * Agents whose models go by the conversation alone, so that any process goes on with them. What their tools did stands in
 * `done.txt` of the directory.
 *
 * @param build says which definition it is: agents of another one differ in their instructions
 */
export function exampleAgents(directory: string, build: string): Agents {
  const tool = (name: string, effect: "read" | "write"): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      effect,
      input: { type: "object" },
      execute(_input, { session, idempotencyKey }) {
        if (effect === "write") appendFileSync(join(directory, DONE), `${session} ${name} ${idempotencyKey}\n`);
        return `${name} by ${build}`;
      },
    }) as Tool;
  const instructions = `You are of build ${build}.`;
  const helper = createAgent({
    name: "helper",
    instructions,
    model: model((turn) => (turn === 0 ? call("look") : "the lock")),
    tools: [tool("look", "read")],
  });
  return {
    /** Looks as often as its input says, a turn each. */
    looker: createAgent({
      name: "looker",
      instructions,
      model: model((turn, { messages }) => (turn < Number(textOf(messages[0])) ? call("look", turn) : `looked ${turn} times`)),
      tools: [tool("look", "read")],
      limits: { maxTurns: 5000 },
    }),
    /** Takes as many ms over one turn as its input says. */
    dawdler: createAgent({
      name: "dawdler",
      instructions,
      model: model((turn, { messages }) =>
        turn === 0 ? { toolCalls: [{ name: "dawdle", input: { ms: Number(textOf(messages[0])) } }] } : "there",
      ),
      tools: [
        defineTool({
          name: "dawdle",
          description: "Takes its time.",
          effect: "read",
          input: z.object({ ms: z.number() }),
          async execute({ ms }, { session }) {
            appendFileSync(join(directory, DONE), `${session} dawdle\n`);
            await delay(ms);
            return "dawdled";
          },
        }) as Tool,
      ],
    }),
    /** Its model has no time for it, and it does not ask again. */
    busy: createAgent({
      name: "busy",
      instructions,
      model: scriptedModel(Array.from({ length: 100 }, () => ({ error: { kind: "rate-limit", message: "slow down", retryAfterMs: 9 } }))),
      limits: { maxRetries: 0 },
    }),
    payer: createAgent({
      name: "payer",
      instructions,
      model: model((turn) => (turn === 0 ? call("pay") : "paid")),
      tools: [tool("pay", "write")],
      permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
    }),
    lead: createAgent({
      name: "lead",
      instructions,
      model: model((turn) => (turn === 0 ? { toolCalls: [{ name: "helper", input: { task: "Look." } }] } : "fixed")),
      tools: [agentTool(helper)],
    }),
    /** Waits as many seconds as its input says. */
    napper: createAgent({
      name: "napper",
      instructions,
      model: model((turn, { messages }) =>
        turn === 0 ? { toolCalls: [{ name: "nap", input: { seconds: Number(textOf(messages[0])) } }] } : "rested",
      ),
      tools: [waitForSignalTool({ name: "nap", kinds: [], timeoutMs: 3_600_000 })],
    }),
    /** Waits for a signal, and says what came. */
    listener: createAgent({
      name: "listener",
      instructions,
      model: model((turn, { messages }) =>
        turn === 0 ? call("wait_for_signal") : `heard ${textOf(messages.at(-1)).includes("seven") ? "seven" : "nothing"}`,
      ),
      tools: [waitForSignalTool({ kinds: ["news"] })],
    }),
    /** Looks until somebody says that it is enough. */
    walker: createAgent({
      name: "walker",
      instructions,
      model: model((turn, { messages }) =>
        messages.some((message) => message.role === "user" && textOf(message) === "enough") ? "home" : call("look", turn),
      ),
      tools: [tool("look", "read")],
      limits: { maxTurns: 5000 },
    }),
  };
}

const DONE = "done.txt";

/** What tools that write did, a line each. */
export function doneIn(directory: string): readonly string[] {
  try {
    return readFileSync(join(directory, DONE), "utf8").trim().split("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function model(respond: (turn: number, request: InferRequest) => string | ScriptedResponse): ScriptedModel {
  const turn = (request: InferRequest) => respond(request.messages.filter(({ role }) => role === "assistant").length, request);
  return scriptedModel(Array.from({ length: 10_000 }, () => turn));
}

function call(name: string, n?: number): ScriptedResponse {
  return { toolCalls: [{ name, input: n === undefined ? {} : { n } }] };
}

function textOf(message: InferRequest["messages"][number] | undefined): string {
  return (message?.content ?? []).map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("");
}
