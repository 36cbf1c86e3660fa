import type { Agent } from "../definition/agent.ts";
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
  return { text: systemText(loop.agent, base, runOf(loop).terms?.systemAddendum, outputOf(loop).form?.instructions) };
}

/** The system prompt that an agent's instructions come to, with what this run and its output add to them. */
export function systemText(
  { options: { systemPrompt: change }, middleware }: Agent<unknown>,
  base: string | undefined,
  addendum: string | undefined,
  ofOutput: string | undefined,
): string | undefined {
  const own = change?.type === "replace" ? change.content : joined(base, change?.content);
  return joined(joined(joined(own, middleware?.promptAddition), addendum), ofOutput);
}

function joined(text: string | undefined, addition: string | undefined): string | undefined {
  return text === undefined || text === "" || addition === undefined || addition === "" ? text || addition : `${text}\n\n${addition}`;
}

async function askInstructions(loop: Loop, instructions: (context: RunContext) => string | Promise<string>): Promise<string> {
  const known = runOf(loop).instructions;
  if (known !== undefined) return known;
  // Whatever they are, no model reads them in a rehearsal, and behind them may stand what can't go on.
  if (loop.execution.outside !== undefined) return "";
  const text = await loop.execution.decide("instructions/decision", async () => {
    const returned: unknown = await instructions(runContext(loop, 0));
    if (typeof returned !== "string") throw new TypeError(`the instructions must be a text, not ${typeof returned}`);
    return returned;
  });
  loop.execution.put("instructions", "instructions", { text });
  return text;
}
