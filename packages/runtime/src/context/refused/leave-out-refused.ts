import type { Content, Message, ModelFailure } from "@keelson/protocol";
import { groupMessages } from "../../providers/history/message-group.ts";
import { outputParts, readableText } from "../../providers/history.ts";
import { imageProblem } from "../../providers/media/image-problem.ts";

/** Where a part stands: in a message, or within the output of a result there. */
interface Place {
  readonly message: number;
  readonly part: number;
  readonly inner?: number;
}

export interface LeftOut {
  readonly messages: readonly Message[];
  /** What was left out, and why, in words. */
  readonly summary: string;
}

/** So much of a vendor's words goes into the conversation. */
const WORDS = 300;
/** What vendors call a part that they can't take. */
const OF_MEDIA = /image|picture|photo|document|pdf|\bfile\b|media|audio|video|base64|mime|source\.data|inline_?data/i;
const OF_THINKING = /signature|thinking|reasoning|encrypted_content/i;
/** The places of messages and parts in a request, as errors name them: `messages.3.content.1`, `input[2].content[0]`, `contents[1].parts[0]`. */
const PATH = /\b(?:messages|input|contents)[.[]+(\d+)\]?(?:[.[]+(?:content|parts|output)[.[]+(\d+)\]?)?/;

/**
 * The conversation without what a vendor refused a request for: the part that his error names, else the newest that looks like
 * what he speaks of. A note stands in its place. Reasoning whose signature he does not take goes without one.
 * @param all leave out every such part: naming them one by one did not help
 * @returns nothing where he refused something else
 */
export function leaveOutRefused(messages: readonly Message[], failure: ModelFailure, wire: string, all: boolean): LeftOut | undefined {
  const why = failure.message.slice(0, WORDS);
  if (OF_MEDIA.test(failure.message)) {
    const places = placesOf(messages, isMedia);
    const newest = places.findLast((place) => isBroken(partAt(messages, place), wire)) ?? places.at(-1);
    const found = named(messages, places, failure.message, wire) ?? newest;
    if (found !== undefined) {
      const out = all ? places : [found];
      return {
        messages: replaced(messages, out, (part) => noteOf(part, why)),
        summary: `${out.length === 1 ? nameOf(partAt(messages, found)) : `${out.length} images and files`} left out, refused by the vendor: ${why}`,
      };
    }
  }
  if (!OF_THINKING.test(failure.message)) return undefined;
  const thoughts = placesOf(messages, ({ type }) => type === "thinking");
  return thoughts.length === 0
    ? undefined
    : { messages: replaced(messages, thoughts, () => undefined), summary: `Earlier reasoning left out, refused by the vendor: ${why}` };
}

/** The part that an error names by its place in the request, where the places there are those of the conversation, grouped by side. */
function named(messages: readonly Message[], places: readonly Place[], words: string, wire: string): Place | undefined {
  const [, at, part] = PATH.exec(words) ?? [];
  if (at === undefined || (wire !== "anthropic-messages" && wire !== "gemini")) return undefined;
  const group = groupMessages(messages, 0)[Number(at)];
  if (group === undefined) return undefined;
  const first = messages.indexOf(group[0] as Message);
  const here = places.filter(({ message }) => message >= first && message < first + group.length);
  if (part !== undefined) {
    let left = Number(part);
    for (const [offset, { content }] of group.entries()) {
      const exact = here.find(({ message, part: index }) => message === first + offset && index === left);
      if (exact !== undefined) return exact;
      left -= content.length;
    }
  }
  return here.at(-1);
}

function placesOf(messages: readonly Message[], isWanted: (part: Content) => boolean): readonly Place[] {
  return messages.flatMap(({ content }, message) =>
    content.flatMap((part, index): readonly Place[] => {
      if (isWanted(part)) return [{ message, part: index }];
      const inner = part.type === "tool-result" ? (outputParts(part.output) ?? []) : [];
      return inner.flatMap((each, at) => (isWanted(each) ? [{ message, part: index, inner: at }] : []));
    }),
  );
}

function partAt(messages: readonly Message[], { message, part, inner }: Place): Content {
  const found = messages[message]?.content[part] as Content;
  return inner === undefined || found.type !== "tool-result" ? found : (outputParts(found.output)?.[inner] as Content);
}

function isMedia({ type }: Content): boolean {
  return type === "image" || type === "file";
}

function isBroken(part: Content, wire: string): boolean {
  return part.type === "image" && imageProblem(part, wire) !== undefined;
}

function replaced(messages: readonly Message[], places: readonly Place[], by: (part: Content) => Content | undefined): readonly Message[] {
  return messages.map((message, at) => {
    const here = places.filter((place) => place.message === at);
    if (here.length === 0) return message;
    const content = message.content.flatMap((part, index): readonly Content[] => {
      const own = here.filter((place) => place.part === index);
      if (own.length === 0) return [part];
      const inner = part.type === "tool-result" ? outputParts(part.output) : undefined;
      if (part.type !== "tool-result" || inner === undefined) return [by(part)].filter((one) => one !== undefined);
      const kept = inner.flatMap((each, place) => (own.some((one) => one.inner === place) ? (by(each) ?? []) : each));
      return [{ ...part, output: { type: "content", content: kept } }];
    });
    return { ...message, content };
  });
}

function noteOf(part: Content, why: string): Content {
  return { type: "text", text: `[Here stood ${nameOf(part)}. It was left out, since the vendor refused it: ${why}]` };
}

function nameOf(part: Content): string {
  if (part.type !== "image" && part.type !== "file") return readableText(part);
  const size = part.data === undefined ? "" : `, ${Buffer.byteLength(part.data, "base64")} bytes`;
  return `${part.type === "file" && part.name !== undefined ? `the file ${part.name}` : `a ${part.type === "image" ? "picture" : "file"}`} (${part.mediaType}${size})`;
}
