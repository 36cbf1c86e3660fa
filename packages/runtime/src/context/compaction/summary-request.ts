import { textMessage, type InferRequest } from "@keelson/protocol";
import type { Entry } from "../room/entry.ts";
import { transcriptOf } from "../room/transcript.ts";
import type { SummaryStrategy } from "./strategy.ts";

/** A transcript of this length is its own summary. */
const SHORT_BYTES = 6 * 1024;
/** A token is seldom less than this. */
const BYTES_PER_TOKEN = 2;
const LONGEST_BYTES = 512 * 1024;

const SUMMARY =
  "Summarise the transcript of an agent's work, so that the agent can go on from your summary alone. Say what the user wants, in the user's own words where they matter; what was decided, done and found out, with names, paths, numbers and errors; what is not done yet, and what was to come next. Leave out what is of no use any more. Answer with the summary only.";
const STATE =
  "Bring the transcript of an agent's work into the form of its state, so that the agent can go on from that alone. Answer with a JSON object and nothing else. Its members: goal (what the user wants, in the user's own words where they matter), constraints, decisions (each with its reason), facts (what was found out, with names, paths, numbers and errors), done, open, next: each a text or a list of texts. Where the transcript begins with an earlier state, bring that up to date.";

/** The instructions for the model if the strategy has none. */
const DEFAULT_INSTRUCTIONS: { readonly [Type in SummaryStrategy["type"]]: string } = { "summarise": SUMMARY, "extract-state": STATE };

/** Adds what a person asked to keep to the instructions of a strategy. */
export function keepInSummary(strategy: SummaryStrategy, keep: string): SummaryStrategy {
  const { type, instructions = DEFAULT_INSTRUCTIONS[type] } = strategy;
  return { ...strategy, instructions: `${instructions}\n\nThe user asks to keep in particular: ${keep}` };
}

/** The means to summarise old messages. */
export interface SummaryRequest {
  /** A short transcript, used if no model can be asked or if it returns no text. */
  readonly short: string;
  /** The request to a model; `undefined` if the short transcript has everything. */
  readonly question: Omit<InferRequest, "model"> | undefined;
}

/** @param tokens the size of the transcript that the model reads. Default: what fits into a conversation that fits */
export function summaryRequest(
  old: readonly Entry[],
  { type, maxTokens, instructions = DEFAULT_INSTRUCTIONS[type] }: SummaryStrategy,
  tokens: number = Number.POSITIVE_INFINITY,
): SummaryRequest {
  const messages = old.map(({ message }) => message);
  const short = transcriptOf(messages, SHORT_BYTES);
  const transcript = transcriptOf(messages, Math.min(LONGEST_BYTES, Math.max(SHORT_BYTES, tokens * BYTES_PER_TOKEN)));
  const question = { system: instructions, messages: [textMessage("user", transcript)], maxTokens };
  return { short, question: transcript === short ? undefined : question };
}
