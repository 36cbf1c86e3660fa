import type { CallEffects } from "@keelson/protocol";
import { sourceLine, unitedSources } from "../../session/untrusted-sources.ts";
import { seePath } from "../definition/permissions/path-pattern.ts";
import { callPlaceOf } from "../turn/held-services.ts";
import type { Loop } from "../turn/loop.ts";
import type { EndedCall, ExecutedCall } from "../turn/pending-call.ts";

/** Where untrusted text in the results of calls comes from, by their keys. A call that has none is not there. */
export type Sources = ReadonlyMap<string, readonly string[]>;

const NONE: Sources = new Map();

/** Asks the tools of calls that ran, in whatever way they ended: an error may repeat what a page says. */
export async function sourcesOf(loop: Loop, calls: readonly EndedCall[]): Promise<Sources> {
  let sources: Map<string, readonly string[]> | undefined;
  for (const call of calls) {
    const found = call.state === "executed" ? await sourcesOfExecuted(loop, call) : sourcesOfSettled(call);
    if (found.length > 0) (sources ??= new Map()).set(call.key, unitedSources([], found.map(sourceLine)));
  }
  return sources ?? NONE;
}

async function sourcesOfExecuted(loop: Loop, call: ExecutedCall): Promise<readonly string[]> {
  const { tool, marks } = call;
  if (tool.untrusted === undefined) return marks;
  const said = await ask(loop, call);
  if (said === undefined || said === false || said === "") return marks;
  return [...marks, said === true ? tool.name : `${tool.name}: ${said}`];
}

/** What somebody else gave in the place of a result is taken for what the tool gives. */
function sourcesOfSettled(call: EndedCall): readonly string[] {
  if (call.state !== "settled" || call.why !== "ran" || call.tool?.untrusted === undefined) return [];
  return [call.tool.name];
}

/** It ran by now: a tool that can't say where its text is from does not lose the result, and is not believed either. */
async function ask(loop: Loop, { tool, value }: ExecutedCall): Promise<string | boolean | undefined> {
  const { cwd } = loop.agent.options;
  const where = cwd === undefined ? {} : { cwd };
  try {
    const effects: CallEffects | undefined = await tool.effectsOf?.(value, callPlaceOf(loop));
    const reads = effects?.reads?.map((path) => seePath(path, cwd)) ?? [];
    const outside = reads.filter(({ inside }) => !inside).map(({ shown }) => shown);
    return await tool.untrusted?.(value, { ...where, ...(effects && { effects }), outside });
  } catch {
    return true;
  }
}
