import { textMessage } from "@keelson/protocol";
import type { SummaryStrategy } from "../../../context/compaction/strategy.ts";
import type { Entry } from "../../../context/room/entry.ts";
import { transcriptOf } from "../../../context/room/transcript.ts";
import { inferText } from "./infer-text.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";

/** A transcript of this length is its own summary. */
const SHORT_BYTES = 6 * 1024;
/** A token is seldom less than this. */
const BYTES_PER_TOKEN = 2;
const LONGEST_BYTES = 512 * 1024;

const SUMMARY =
  "Summarise the transcript of an agent's work, so that the agent can go on from your summary alone. Say what the user wants, in the user's own words where they matter; what was decided, done and found out, with names, paths, numbers and errors; what is not done yet, and what was to come next. Leave out what is of no use any more. Answer with the summary only.";
const STATE =
  "Bring the transcript of an agent's work into the form of its state, so that the agent can go on from that alone. Answer with a JSON object and nothing else. Its members: goal (what the user wants, in the user's own words where they matter), constraints, decisions (each with its reason), facts (what was found out, with names, paths, numbers and errors), done, open, next: each a text or a list of texts. Where the transcript begins with an earlier state, bring that up to date.";

/** How the model is asked, where the agent's strategy doesn't say. */
const ASKED: { readonly [Type in SummaryStrategy["type"]]: string } = { "summarise": SUMMARY, "extract-state": STATE };

/**
 * What is old of a conversation, in few words: the model's own. Where the model can't be asked, or has nothing to say, it is what was
 * said and done, in short. It says where the whole is kept.
 * @param tokens so many may be read for it. Default: what fits into a conversation that fits
 */
export async function summarise(
  loop: Loop,
  key: string,
  old: readonly Entry[],
  { type, maxTokens, instructions = ASKED[type] }: SummaryStrategy,
  tokens: number = Number.POSITIVE_INFINITY,
): Promise<string> {
  const messages = old.map(({ message }) => message);
  const { id, seq } = sessionOf(loop);
  const where = `(It stands for ${messages.length} messages, which the log of session ${id} keeps up to record ${seq}.)`;
  const short = transcriptOf(messages, SHORT_BYTES);
  const transcript = transcriptOf(messages, Math.min(LONGEST_BYTES, Math.max(SHORT_BYTES, tokens * BYTES_PER_TOKEN)));
  if (transcript === short) return `${short}\n\n${where}`;
  const question = { system: instructions, messages: [textMessage("user", transcript)], maxTokens };
  return `${(await inferText(loop, `${key}/summary`, question)) ?? short}\n\n${where}`;
}
