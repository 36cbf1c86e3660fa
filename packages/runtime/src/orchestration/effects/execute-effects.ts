import { DirectiveError, type Effect, type EffectContext, type EffectExecutor, type JsonValue } from "@keelson/protocol";

/** What became of one effect. */
export type EffectResult =
  | { readonly ok: true; readonly effect: Effect; readonly value?: JsonValue }
  | { readonly ok: false; readonly effect: Effect; readonly error: DirectiveError };

/**
 * For whoever called an operator and decides about what it declared: executes effects in order, best effort, so that one that
 * fails keeps none of the others from its turn. Those that their run had executed already are left out.
 *
 * @param context what all have in common; each has its own id as `idempotencyKey`
 */
export async function executeEffects(
  executor: EffectExecutor,
  effects: readonly Effect[],
  context: Omit<EffectContext, "idempotencyKey" | "attempt"> & { readonly attempt?: number },
): Promise<readonly EffectResult[]> {
  const results: EffectResult[] = [];
  for (const [index, effect] of effects.entries()) {
    if (effect.meta?.outcome !== undefined) continue;
    const idempotencyKey = effect.meta?.id ?? `${context.runId}/effect/${index}`;
    try {
      const value = await executor.execute(effect, { attempt: 1, ...context, idempotencyKey });
      results.push({ ok: true, effect, ...(value !== undefined && { value }) });
    } catch (error) {
      if (!DirectiveError.is(error)) throw error;
      results.push({ ok: false, effect, error });
    }
  }
  return results;
}
