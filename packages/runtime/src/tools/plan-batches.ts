import type { ToolConcurrency } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";

export interface BatchOptions<Call> {
  /** Larger batches are split. Default: no limit. */
  readonly maxParallelCalls?: number | undefined;
  /** Default: what the tool says. */
  readonly decideConcurrency?: ((call: Call) => ToolConcurrency) | undefined;
}

/**
 * Which calls of a response run together: neighbours that are `shared` form one batch, an `exclusive` call is alone in
 * its own. The order of calls is kept, so batches and starts are a function of the response.
 * @throws RangeError when `maxParallelCalls` is under 1
 */
export function planBatches<Call extends { readonly tool: { readonly concurrency: ToolConcurrency } }>(
  calls: readonly Call[],
  options: BatchOptions<Call> = {},
): readonly (readonly Call[])[] {
  checkOptionNames("planBatches", options, { maxParallelCalls: true, decideConcurrency: true });
  const { maxParallelCalls = Number.POSITIVE_INFINITY, decideConcurrency = (call: Call) => call.tool.concurrency } = options;
  if (!(maxParallelCalls >= 1)) throw new RangeError(`maxParallelCalls must be at least 1, not ${maxParallelCalls}`);
  const batches: Call[][] = [];
  let open: Call[] | undefined;
  for (const call of calls) {
    const shared = decideConcurrency(call) === "shared";
    if (shared && open !== undefined && open.length < maxParallelCalls) {
      open.push(call);
      continue;
    }
    const batch = [call];
    batches.push(batch);
    open = shared ? batch : undefined;
  }
  return batches;
}
