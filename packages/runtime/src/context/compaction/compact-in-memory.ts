import { AgentError, type Provider } from "@keelson/protocol";
import { infer } from "../../providers/infer.ts";
import type { Conversation } from "../conversation.ts";
import type { Entry } from "../room/entry.ts";
import { foldIntoSummary } from "../room/fold-into-summary.ts";
import { applyStrategy, isShorter } from "./apply-strategy.ts";
import type { CompactionStrategy, SummaryStrategy } from "./strategy.ts";
import { summaryRequest } from "./summary-request.ts";

/** The model that writes summaries for a context without a run. */
export interface SummaryModel {
  readonly provider?: Provider | undefined;
  /** The vendor's model id. Default: the one in the provider's name, as in `anthropic/claude-haiku-4-5`. */
  readonly model?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Shortens a conversation by a strategy, and returns true if it is shorter now. Messages that are appended meanwhile stay after the rest.
 * @throws AgentError of kind `invalid-option` if the strategy needs a summary and there is no provider; ModelError if the model failed
 */
export async function compactInMemory(
  conversation: Conversation,
  strategy: CompactionStrategy,
  summaryModel: SummaryModel,
): Promise<boolean> {
  const entries = entriesOf(conversation);
  const shortening = applyStrategy(strategy, entries);
  if (shortening === undefined) return false;
  const after =
    shortening.type === "done"
      ? shortening.entries
      : foldIntoSummary(shortening.parts, await summaryOf(shortening.parts.old, shortening.strategy, summaryModel));
  if (!isShorter(after, entries)) return false;
  conversation.replace([...after, ...conversation.entriesFrom(entries.length)]);
  return true;
}

function entriesOf(conversation: Conversation): readonly Entry[] {
  return conversation.messages.map((message, index) => ({ message, policy: conversation.policyAt(index) }));
}

async function summaryOf(old: readonly Entry[], strategy: SummaryStrategy, { provider, model, signal }: SummaryModel): Promise<string> {
  if (provider === undefined)
    throw new AgentError({
      kind: "invalid-option",
      option: "provider",
      message: `A model writes the summary of ${strategy.type}, and this context belongs to no run: give the provider to ask.`,
    });
  const { short, question } = summaryRequest(old, strategy);
  if (question === undefined) return short;
  const { name } = provider;
  const id = model ?? name.slice(name.indexOf("/") + 1);
  const response = await infer(provider, { ...question, model: id }, signal === undefined ? {} : { signal });
  const text = response.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return text.trim() === "" ? short : text;
}
