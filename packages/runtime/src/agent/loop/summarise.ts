import { textMessage } from "@keelson/protocol";
import type { Foldable } from "../../context/room/fold-into-summary.ts";
import { transcriptOf } from "../../context/room/transcript.ts";
import { inferText } from "./infer-text.ts";
import type { Loop } from "../turn/loop.ts";

/** A transcript of this length is its own summary. */
const SHORT_BYTES = 6 * 1024;
/** A token is seldom less than this. */
const BYTES_PER_TOKEN = 2;
const LONGEST_BYTES = 512 * 1024;
const SUMMARY_TOKENS = 2048;
const LAST_REQUEST_BYTES = 4096;

const INSTRUCTIONS =
  "Summarise the transcript of an agent's work, so that the agent can go on from your summary alone. Say what the user wants, in the user's own words where they matter; what was decided, done and found out, with names, paths, numbers and errors; what is not done yet, and what was to come next. Leave out what is of no use any more. Answer with the summary only.";

/**
 * What is old of a conversation, in few words: the model's own, with what the user asked last beside it as it was said. Where the
 * model can't be asked, or has nothing to say, it is what was said and done, in short.
 */
export async function summarise(loop: Loop, key: string, { old, tail }: Foldable, tokens: number): Promise<string> {
  const messages = old.map(({ message }) => message);
  const short = transcriptOf(messages, SHORT_BYTES);
  const transcript = transcriptOf(messages, Math.min(LONGEST_BYTES, Math.max(SHORT_BYTES, tokens * BYTES_PER_TOKEN)));
  if (transcript === short) return short;
  const summary = await inferText(loop, `${key}/summary`, {
    system: INSTRUCTIONS,
    messages: [textMessage("user", transcript)],
    maxTokens: SUMMARY_TOKENS,
  });
  if (summary === undefined) return short;
  const request = tail.some(({ message }) => message.role === "user") ? undefined : messages.findLast(({ role }) => role === "user");
  return request === undefined ? summary : `${summary}\n\nWhat the user asked last:\n${transcriptOf([request], LAST_REQUEST_BYTES)}`;
}
