import { runOf, type Loop } from "../turn/loop.ts";
import type { Gate } from "../turn/moments.ts";
import { refuse, type OpenCall, type SettledCall } from "../turn/pending-call.ts";

export const toolCallLimitGate: Gate = { name: "tool-call limit", pass: limitCalls };

async function limitCalls(loop: Loop, call: OpenCall): Promise<OpenCall | SettledCall> {
  const { maxToolCalls } = loop.limits;
  if (maxToolCalls === undefined || runOf(loop).turnBase.toolCalls + call.index < maxToolCalls) return call;
  return refuse(call, `budget-exhausted: the limit of ${maxToolCalls} tool calls is reached. Answer with what you have.`);
}
