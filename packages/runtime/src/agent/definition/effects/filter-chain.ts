import { DirectiveError, type Directive, type DirectiveFilter, type FilterDecision } from "@keelson/protocol";
import { describeThrown } from "../../../tools/describe-thrown.ts";

/** Directive filters in the order in which they were added; the first that suppresses or rejects has the last word. */
export interface FilterChain {
  add(filter: DirectiveFilter): FilterChain;
  readonly length: number;
  apply(directive: Directive): FilterDecision;
  /**
   * The directive as the filters leave it; nothing when one suppresses it.
   * @throws DirectiveError of kind `rejected`
   */
  applyOrNull(directive: Directive): Directive | null;
}

/**
 * Filters are pure: what they are shown decides, and a replay may ask them again.
 *
 * ```ts
 * const chain = createFilterChain().add({ name: "no cron", filter: (directive) => (directive.type === "cron" ? undefined : directive) });
 * chain.apply({ type: "stop" }); // { type: "pass", directive: { type: "stop" } }
 * ```
 */
export function createFilterChain(filters: readonly DirectiveFilter[] = []): FilterChain {
  const added = [...filters];
  const chain: FilterChain = {
    add(filter) {
      added.push(filter);
      return chain;
    },
    get length() {
      return added.length;
    },
    apply(directive) {
      let current = directive;
      for (const filter of added) {
        const decision = decide(filter, current);
        if (decision.type !== "pass") return decision;
        current = decision.directive;
      }
      return { type: "pass", directive: current };
    },
    applyOrNull(directive) {
      const decision = chain.apply(directive);
      if (decision.type === "reject") throw DirectiveError.fromJSON(decision.error);
      return decision.type === "pass" ? decision.directive : null;
    },
  };
  return chain;
}

/** One filter's verdict. It gets a copy, so that what it does to it reaches nobody else. */
function decide(filter: DirectiveFilter, directive: Directive): FilterDecision {
  const copy = structuredClone(directive);
  try {
    if (filter.decision) return filter.decision(copy);
    const filtered = filter.filter(copy);
    return filtered === undefined || filtered === null ? { type: "suppress", by: filter.name } : { type: "pass", directive: filtered };
  } catch (cause) {
    const message = `The directive "${directive.type}" was rejected by the filter "${filter.name}": ${describeThrown(cause)}`;
    const error = new DirectiveError({ kind: "rejected", directive: directive.type, by: filter.name, message }, { cause });
    return { type: "reject", by: filter.name, error: error.toJSON() };
  }
}
