import type { Scope } from "@keelson/protocol";
import { checkStrategy, type CompactionStrategy } from "../../../context/compaction/strategy.ts";
import { checkMembers, invalidOption, shown } from "../invalid-option.ts";
import { checkThresholds, DEFAULT_THRESHOLDS, type Thresholds } from "../middleware/summarisation-mark.ts";

/** When and how the conversations of an agent are shortened. */
export interface CompactionOptions {
  /** Default: the agent's `compact`, else `summarise()`. */
  readonly strategy?: CompactionStrategy | undefined;
  /**
   * A compaction is due before a turn once one of these is passed; one that is left out is not looked at, so `{}` leaves it to requests.
   * Default: 50 messages, 80,000 tokens, 0.8 of what the model can read.
   */
  readonly when?: Thresholds | undefined;
  /**
   * A summary that is due by size is made beside the turn, and put in its place at the end of the turn: nobody waits for it unless it takes
   * longer than the turn. Default false: before the turn.
   */
  readonly beside?: boolean | undefined;
  /** Where each summary is written in the state store, as an effect that is declared in one append with the compaction. Default: nowhere. */
  readonly store?: { readonly scope: Scope; readonly key: string } | undefined;
}

/** What is not said is by default. */
export function thresholdsOf({ when = DEFAULT_THRESHOLDS }: CompactionOptions): Thresholds {
  return when;
}

/** @throws AgentError of kind `invalid-option` that names the option */
export function checkCompaction(options: CompactionOptions, hasOwn: boolean): void {
  checkMembers("compaction", options, ["strategy", "when", "beside", "store"], "{ strategy: summarise() }");
  const { strategy, when, beside, store } = options;
  if (when !== undefined) {
    checkMembers("compaction.when", when, ["maxMessages", "maxTokens", "maxContextUtilization"], "{ maxTokens: 80_000 }");
    checkThresholds("compaction.when", when);
  }
  if (strategy !== undefined) {
    if (hasOwn) throw invalidOption("compact", "and compaction.strategy both say how to compact: leave one of them out");
    checkStrategy(strategy);
    checkGain(strategy, thresholdsOf(options));
  }
  if (beside !== undefined && typeof beside !== "boolean")
    throw invalidOption("compaction.beside", `must be true or false, not ${shown(beside)}`);
  if (store === undefined) return;
  checkMembers("compaction.store", store, ["scope", "key"], '{ scope: { type: "global" }, key: "notes" }');
  if (typeof store.key !== "string" || store.key === "")
    throw invalidOption("compaction.store.key", `must be a key, not ${shown(store.key)}`);
  if (typeof store.scope?.type !== "string")
    throw invalidOption("compaction.store.scope", `must be a scope such as { type: "global" }, not ${shown(store.scope)}`);
}

/** What keeps as much as a threshold allows would be due again at once, turn by turn. */
function checkGain(strategy: CompactionStrategy, thresholds: Thresholds): void {
  if (strategy.type === "results-first") return checkGain(strategy.then, thresholds);
  const { maxMessages = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = thresholds;
  if ("keep" in strategy && strategy.type !== "stub-results" && strategy.keep >= maxMessages)
    throw invalidOption(
      "compaction.strategy",
      `keeps ${strategy.keep} messages and is due at ${maxMessages}: it must keep fewer, or raise compaction.when.maxMessages`,
    );
  if ("target" in strategy && strategy.target >= maxTokens)
    throw invalidOption(
      "compaction.strategy",
      `leaves ${strategy.target} tokens and is due at ${maxTokens}: it must leave fewer, or raise compaction.when.maxTokens`,
    );
}
