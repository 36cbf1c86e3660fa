import type { RunContext } from "../definition/run-context.ts";
import { runContext } from "../turn/run-context.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import { outputOf } from "../features/output/run-output.ts";

/** What a run says before its messages: the same in all its turns. */
export interface SystemPrompt {
  readonly text: string | undefined;
}

/** The instructions of this run: a function is called once, then its text is read from the log. */
export async function systemPrompt(loop: Loop): Promise<SystemPrompt> {
  const { instructions } = loop.agent.options;
  const base = typeof instructions === "function" ? await askInstructions(loop, instructions) : instructions;
  const change = loop.agent.options.systemPrompt;
  const own = change?.type === "replace" ? change.content : joined(base, change?.content);
  const whole = joined(joined(own, loop.agent.middleware?.promptAddition), runOf(loop).terms?.systemAddendum);
  return { text: joined(whole, outputOf(loop).form?.instructions) };
}

function joined(text: string | undefined, addition: string | undefined): string | undefined {
  return text === undefined || text === "" || addition === undefined || addition === "" ? text || addition : `${text}\n\n${addition}`;
}

async function askInstructions(loop: Loop, instructions: (context: RunContext) => string | Promise<string>): Promise<string> {
  const known = runOf(loop).instructions;
  if (known !== undefined) return known;
  const text = await loop.execution.decide("instructions/decision", async () => {
    const returned: unknown = await instructions(runContext(loop, 0));
    if (typeof returned !== "string") throw new TypeError(`the instructions must be a text, not ${typeof returned}`);
    return returned;
  });
  loop.execution.put("instructions", "instructions", { text });
  return text;
}
