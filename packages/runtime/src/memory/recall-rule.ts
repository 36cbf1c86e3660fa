import { type Message, ModelError, StateError, type StateReader } from "@keelson/protocol";
import { isMemoryMessage, memoryLine, memoryMessage } from "../context/memory-message.ts";
import type { Context, Rule } from "../context/rule.ts";
import { unitedSources } from "../session/untrusted-sources.ts";
import { type MemoryItem, type MemoryPlace, readItem } from "./memory-item.ts";
import { areApart } from "./other-store.ts";
import type { RecallStrategy } from "./recall-strategy.ts";

export interface Recall extends MemoryPlace {
  readonly name: string;
  /** What the model is told that the items are. */
  readonly about: string;
  readonly store: StateReader;
  readonly strategy: RecallStrategy;
  /** Of what is put into the context at once, at most. */
  readonly maxBytes: number;
  /** Whether what the session itself wrote is recalled, which its conversation may have lost. */
  readonly fromThisSession: boolean;
}

/**
 * Before a model is first asked with something that the user said, puts before it what is remembered about that and not in context yet. It is the first
 * to go when the conversation is shortened. Where the store fails the run goes on without, and is told.
 */
export function recallRule(recall: Recall): Rule {
  const { name, about } = recall;
  return {
    name: `recall-${name}`,
    trigger: { type: "before", operation: "infer" },
    async run({ context }) {
      const query = unansweredIn(context.messages, about);
      if (query === "") return;
      if (context.state !== undefined && (await areApart(recall.store, context.state, recall)))
        context.warn(
          `The memory "${name}" recalls from its \`store\`, and what runs remember is written to the \`state\` of their runner, which is another: give both the same store.`,
        );
      const items = await recalled(recall, context, query);
      const lines = fitting(items, recall.maxBytes);
      if (lines.length === 0) return;
      const sources = items.slice(0, lines.length).reduce<readonly string[]>((all, { untrusted }) => unitedSources(all, untrusted), []);
      await context.injectMessage(memoryMessage(about, lines), "compress-first", sources);
    },
  };
}

async function recalled(recall: Recall, context: Context, query: string): Promise<readonly MemoryItem[]> {
  const { strategy, store, scope, prefix, name, fromThisSession } = recall;
  const texts = context.messages.map(textIn);
  const isKnown = (item: MemoryItem): boolean =>
    (!fromThisSession && item.from !== undefined && item.from.session === context.session) ||
    texts.some((text) => text.includes(lineOf(item)));
  const items: MemoryItem[] = [];
  try {
    for (const key of await strategy.recall({ store, scope, prefix, query })) {
      const item = await readItem(store, { scope, prefix }, key);
      if (item !== undefined && !isKnown(item)) items.push(item);
    }
  } catch (error) {
    if (!StateError.is(error) && !ModelError.is(error)) throw error;
    context.warn(`Nothing of the memory "${name}" could be recalled: ${error.message}`);
    return [];
  }
  return items;
}

/** What the user said since the last response; nothing where the memory was asked about it already. */
function unansweredIn(messages: readonly Message[], about: string): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant" || role === "tool");
  const since = messages.slice(last + 1);
  if (since.some((message) => isMemoryMessage(message, about))) return "";
  const said = since.filter((message) => message.role === "user" && !isMemoryMessage(message));
  return said.map(textIn).join("\n").trim();
}

function textIn({ content }: Message): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** As many as there is room for, the most useful first. */
function fitting(items: readonly MemoryItem[], maxBytes: number): readonly string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const item of items) {
    const line = lineOf(item);
    bytes += Buffer.byteLength(line);
    if (bytes > maxBytes) break;
    lines.push(line);
  }
  return lines;
}

/** With where it is from, so that the model can name it and a person can look it up. */
function lineOf({ id, text, from, untrusted }: MemoryItem): string {
  const origin = [
    ...(from === undefined ? [] : [`session ${from.session}, record ${from.record}`]),
    ...(untrusted.length === 0 ? [] : [`not vouched for: ${untrusted.join(", ")}`]),
  ];
  return memoryLine(`[${id}] ${text}${origin.length === 0 ? "" : ` (${origin.join("; ")})`}`);
}
