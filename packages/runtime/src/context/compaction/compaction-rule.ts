import { AgentError, type Provider } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { conversationTokens } from "../room/conversation-tokens.ts";
import type { Context, Rule, RuleTrigger } from "../rule.ts";
import { checkStrategy, type CompactionStrategy } from "./strategy.ts";

export interface CompactionRuleOptions {
  readonly strategy: CompactionStrategy;
  /** The conversation is shortened once it is over one of these. Default: 50 messages, 80,000 tokens. */
  readonly when?: { readonly maxMessages?: number | undefined; readonly maxTokens?: number | undefined } | undefined;
  /** The operation around which the rule fires. Default: before `compile`, so that the next request is shorter. */
  readonly trigger?: RuleTrigger | undefined;
  /** Default 10. */
  readonly priority?: number | undefined;
  /** The model for summaries of a context without a run; see `Context.compact`. */
  readonly provider?: Provider | undefined;
  readonly model?: string | undefined;
}

const DEFAULT_WHEN = { maxMessages: 50, maxTokens: 80_000 };

/** After this many compactions in a row without a gain, a context is compacted no more by its rule. */
const MAX_INEFFECTIVE = 3;

/** A rule that shortens the conversation of a context by a strategy when it becomes too long. */
export function compactionRule(options: CompactionRuleOptions): Rule {
  checkOptionNames("compactionRule", options, { strategy: true, when: true, trigger: true, priority: true, provider: true, model: true });
  const { when = DEFAULT_WHEN, trigger = { type: "before", operation: "compile" }, priority = 10, provider, model } = options;
  checkOptionNames("compactionRule.when", when, { maxMessages: true, maxTokens: true });
  const strategy = checkStrategy(options.strategy, "strategy");
  for (const [name, limit] of Object.entries(when)) checkLimit(name, limit);
  const ineffective = new WeakMap<Context, number>();
  return {
    name: "compaction",
    trigger,
    priority,
    // It depends on the conversation alone, and the log records what it does.
    pure: true,
    async run({ context, operation }) {
      const failures = ineffective.get(context) ?? 0;
      if (operation === "compact" || failures >= MAX_INEFFECTIVE || !isOver(context, when)) return;
      const isShorter = await context.compact(strategy, { provider, model });
      ineffective.set(context, isShorter ? 0 : failures + 1);
      if (!isShorter && failures + 1 === MAX_INEFFECTIVE)
        context.warn(
          `The last ${MAX_INEFFECTIVE} compactions gained nothing, so this rule stops: raise its limits, or choose another strategy.`,
        );
    },
  };
}

function isOver(
  { messages }: Context,
  { maxMessages = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY }: NonNullable<CompactionRuleOptions["when"]>,
): boolean {
  return messages.length > maxMessages || (maxTokens < Number.POSITIVE_INFINITY && conversationTokens(messages) > maxTokens);
}

function checkLimit(name: string, limit: number | undefined): void {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 1)) return;
  throw new AgentError({
    kind: "invalid-option",
    option: name,
    message: `${name} must be a whole number of at least 1, not ${String(limit)}.`,
  });
}
