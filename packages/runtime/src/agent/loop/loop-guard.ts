import type { JsonValue } from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { RecordedCall } from "../../session/recorded-call.ts";
import { guardKey } from "../turn/call-key.ts";
import { runOf, type Loop } from "../turn/loop.ts";
import type { Gate } from "../turn/moments.ts";
import { refuse, type OpenCall, type SettledCall } from "../turn/pending-call.ts";

const SAME_OUTCOME_LIMIT = 3;
const SAME_CALL_LIMIT = 6;

/**
 * Why one more call with this key would go round in circles; `undefined` when it would not. The third call is refused when
 * the earlier ones succeeded with one and the same output, the sixth in any case.
 */
export function repeats(key: string, calls: readonly RecordedCall[]): string | undefined {
  let first: RecordedCall | undefined;
  let count = 0;
  let isSameEachTime = true;
  for (const call of calls) {
    if (call.key !== key) continue;
    count++;
    first ??= call;
    isSameEachTime &&= !call.isError && isSame(call.output, first.output);
  }
  if (count >= SAME_CALL_LIMIT - 1)
    return `This exact call was made ${count} times already. Stop repeating it: change the arguments or the approach.`;
  if (count >= SAME_OUTCOME_LIMIT - 1 && isSameEachTime)
    return `This exact call was made ${count} times already and gave the same result each time. Use that result, or change the arguments.`;
  return undefined;
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && canonicalJson(a) === canonicalJson(b));
}

export const loopGuardGate: Gate = {
  name: "loop guard",
  applies: ({ agent }) => agent.options.loopGuard !== false,
  pass: guardLoops,
};

async function guardLoops(loop: Loop, call: OpenCall): Promise<OpenCall | SettledCall> {
  const { calls } = runOf(loop).turnBase;
  if (calls.length < 2) return call;
  const repeated = repeats(guardKey(call.tool.name, call), calls);
  return repeated === undefined ? call : refuse(call, repeated);
}
