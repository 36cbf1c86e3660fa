import { UNKNOWN_USAGE, type Usage } from "@keelson/protocol";
import { reportedCount } from "../token-count/reported-count.ts";
import { type Fields, fieldsOf } from "../wire-decoder.ts";
import type { AnthropicCounts } from "./anthropic-wire.ts";

const CACHE_COUNTS = ["cache_read_input_tokens", "cache_creation_input_tokens"] as const;

/**
 * Gathers the counts of one response. `message_delta` replaces those of `message_start` field by field, and `null` replaces nothing.
 * Anthropic's input leaves the cache out; ours counts it.
 */
export class AnthropicUsage {
  #fields: Record<string, unknown> | undefined;
  /** The whole prompt: the input of a report under the chat wire's name, or of one without counts of the cache before one with them. */
  #prompt: number | null = null;

  merge(usage: unknown): void {
    const reported = fieldsOf(usage);
    if (reported === undefined) return;
    const fields = renamed(reported);
    this.#fields ??= {};
    const isChat = fields["input_tokens"] !== reported["input_tokens"];
    if (isChat || CACHE_COUNTS.every((name) => fields[name] === undefined && (this.#fields?.[name] ?? null) === null))
      this.#prompt = reportedCount(fields["input_tokens"]) ?? this.#prompt;
    for (const [name, value] of Object.entries(fields)) {
      if (value === null || value === undefined) continue;
      // Gateways end their streams with zeros for what they reported at the start, or with what is no count.
      const before = reportedCount(this.#fields[name]);
      if (before !== null && before > 0 && name !== "output_tokens" && (reportedCount(value) ?? 0) === 0) continue;
      this.#fields[name] = value;
    }
  }

  read(): Usage {
    const fields: AnthropicCounts | undefined = this.#fields;
    if (fields === undefined) return UNKNOWN_USAGE;
    // The top level leaves out what a compaction cost; its parts do not.
    const iterations = Array.isArray(fields["iterations"])
      ? fields["iterations"]
          .map(fieldsOf)
          .filter((part) => part !== undefined)
          .map(renamed)
      : [];
    const counted: readonly AnthropicCounts[] = iterations.length > 0 ? iterations : [fields];
    const sum = (name: keyof AnthropicCounts): number | null => {
      let total: number | null = null;
      for (const part of counted) {
        const count = reportedCount(part[name]);
        if (count !== null) total = (total ?? 0) + count;
      }
      return total ?? reportedCount(fields[name]);
    };
    const fresh = sum("input_tokens");
    const cacheRead = sum("cache_read_input_tokens");
    const cacheWrite = sum("cache_creation_input_tokens");
    const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
    // A gateway that gives a total gives it with its own input: one that holds the cache adds nothing for it.
    const confirmed = reportedCount(fields["total_tokens"]) === (fresh ?? 0) + (sum("output_tokens") ?? 0) || fresh === this.#prompt;
    const holdsCache = fresh !== null && cached <= fresh && confirmed;
    return {
      inputTokens: fresh === null ? null : fresh + (holdsCache ? 0 : cached),
      outputTokens: sum("output_tokens"),
      cacheReadTokens: cacheRead,
      cacheCreationTokens: cacheWrite,
      reasoningTokens: reportedCount(fieldsOf(fields["output_tokens_details"])?.["thinking_tokens"]),
    };
  }
}

/**
 * A report with Anthropic's names. Gateways keep those of the chat wire, alone or beside zeros, and some name the written cache only by
 * its lifetimes.
 */
function renamed(usage: Fields): Fields {
  const written = fieldsOf(usage["cache_creation"]);
  const lifetimes = [written?.["ephemeral_5m_input_tokens"], written?.["ephemeral_1h_input_tokens"]];
  // A cache of 0 under another name says nothing of whether the input holds the cache.
  const others: { readonly [name: string]: number | null } = {
    input_tokens: reportedCount(usage["prompt_tokens"]),
    output_tokens: reportedCount(usage["completion_tokens"]),
    cache_read_input_tokens: reportedCount(fieldsOf(usage["prompt_tokens_details"])?.["cached_tokens"]) || null,
    cache_creation_input_tokens: lifetimes.reduce<number>((sum, count) => sum + (reportedCount(count) ?? 0), 0) || null,
  };
  const fields: Record<string, unknown> = { ...usage };
  for (const [name, count] of Object.entries(others))
    if (count !== null && (count > 0 || usage[name] === undefined) && (reportedCount(usage[name]) ?? 0) === 0) fields[name] = count;
  return fields;
}
