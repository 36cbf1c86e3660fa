import type { Effect, EffectMeta } from "@keelson/protocol";
import { canonicalJson } from "../../../json/index.ts";
import type { DeclaredEffect } from "../../../session/outbox.ts";
import { isOfMemory } from "../../../session/remembered-items.ts";

type WithMeta = Effect & { readonly meta: EffectMeta };

/**
 * A correction of a remembered item names the version that its run read. Where the same run has corrected it before, by that version as well, it
 * follows on that: the last one holds, and still nobody else's is written over.
 * @param declared all effects of the run, in order
 */
export function afterOwnCorrections(effect: WithMeta, declared: Iterable<DeclaredEffect>): WithMeta {
  if (effect.type !== "write-memory" || effect.options?.ifVersion === undefined || !isOfMemory(effect.options.metadata)) return effect;
  const { scope, key, options } = effect;
  const ifVersion: number = effect.options.ifVersion;
  let written = 0;
  for (const { id, outcome, record } of declared) {
    if (id === effect.meta.id) break;
    if (outcome !== "done" || record.type !== "effect" || record.data.effect.type !== "write-memory") continue;
    const other = record.data.effect;
    if (other.key === key && other.options?.ifVersion === ifVersion && canonicalJson(other.scope) === canonicalJson(scope)) written++;
  }
  return written === 0 ? effect : { ...effect, options: { ...options, ifVersion: ifVersion + written } };
}
