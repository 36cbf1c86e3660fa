import { AgentError, type CompactionCause, type Message } from "@keelson/protocol";
import { tokensOf } from "../../../context/compaction/apply-strategy.ts";
import type { Entry } from "../../../context/room/entry.ts";
import { afterCompaction, mayCompact } from "../hooks/compaction-hooks.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { hooksOf } from "../hooks/loop-hooks.ts";
import type { RecordData } from "../../../session/record-data.ts";

/** A conversation that was shortened. */
export interface Compacted {
  readonly entries: readonly Entry[];
  readonly summary: string;
}

/** One compaction: why, how, and by what. */
export interface Compaction {
  readonly key: string;
  readonly cause: CompactionCause;
  readonly strategy?: string;
  readonly level?: Exclude<RecordData["compaction"]["level"], undefined>;
  /** The agent's own function answers for what it makes: nobody compares it with what there was. */
  readonly isOwn?: true;
  /** @returns nothing where there is nothing to gain */
  shorten(): Promise<Compacted | undefined>;
  /** What is to be kept of it elsewhere, declared in the same append. */
  keep?(compacted: Compacted): void;
  /** Whether a conversation of so many messages and tokens would be due again. */
  isDue?(messages: number, tokens: number): boolean;
}

/** `kept`: a hook was against it. `left`: it would have gained nothing. */
export type CompactionResult = "done" | "left" | "kept";

/** Gained less than this share, a compaction was in vain. */
const GAIN = 0.1;

/** Puts a shorter conversation in the place of the one there is, as a recorded act, with hooks and rules around it. */
export async function compactConversation(loop: Loop, compaction: Compaction): Promise<CompactionResult> {
  const { execution } = loop;
  const { key, cause, strategy } = compaction;
  const named = { cause, ...(strategy !== undefined && { strategy }) };
  if (hooksOf(loop) !== undefined && !(await mayCompact(loop, key))) {
    execution.put(`${key}/left`, "compaction-left", { ...named, why: "hook" });
    return "kept";
  }
  if (!execution.has(`${key}/done`) && !execution.has(`${key}/left`)) await compact(loop, compaction, named);
  if (execution.has(`${key}/left`)) return "left";
  if (hooksOf(loop) !== undefined) await afterCompaction(loop, key);
  return "done";
}

/** Has the agent's `compact` function shorten the conversation. */
export function compactByAgent(loop: Loop, compaction: Omit<Compaction, "isOwn" | "shorten">): Promise<CompactionResult> {
  const { execution, agent } = loop;
  const shorten = async (): Promise<Compacted> => {
    const result = await execution.step(compaction.key, async ({ signal }) =>
      agent.options.compact?.(entriesOf(loop), { signal, model: runOf(loop).model, usage: runOf(loop).totals.usage }),
    );
    if (!result.ok) throw new AgentError({ kind: "panic", callback: "compact", message: `compact failed: ${result.failure.message}` });
    const { messages, summary } = checked(result.value);
    return { entries: messages.map((message) => ({ message, policy: "normal" })), summary };
  };
  return compactConversation(loop, { ...compaction, isOwn: true, shorten });
}

/** The conversation with what compaction may do to each of its messages. */
export function entriesOf({ context }: Loop): readonly Entry[] {
  return context.messages.map((message, index) => ({ message, policy: context.conversation.policyAt(index) }));
}

type Named = { readonly cause: CompactionCause; readonly strategy?: string };

async function compact(loop: Loop, compaction: Compaction, named: Named): Promise<void> {
  const { execution, context } = loop;
  const { key, level, isOwn, shorten, isDue, keep } = compaction;
  const before = entriesOf(loop);
  const tokensBefore = tokensOf(before);
  await context.run({
    type: "compact",
    key,
    input: { messages: before.length },
    inputIsFixed: true,
    execute: async () => {
      execution.put(`${key}/begin`, "compaction-begin", { ...named, messages: before.length, tokens: tokensBefore });
      const compacted = await shorten();
      const tokensAfter = compacted === undefined ? tokensBefore : tokensOf(compacted.entries);
      if (compacted === undefined || (isOwn !== true && tokensAfter >= tokensBefore)) {
        execution.put(`${key}/left`, "compaction-left", { ...named, why: "no-gain" });
        return;
      }
      keep?.(compacted);
      const { entries, summary } = compacted;
      const request = entries.findIndex(({ message }) => message === requestOf(loop));
      const isVain = named.cause === "size" && (tokensAfter > (1 - GAIN) * tokensBefore || isDue?.(entries.length, tokensAfter) === true);
      execution.put(`${key}/done`, "compaction", {
        summary,
        messagesBefore: before.length,
        messages: entries.map(({ message }) => message),
        ...(entries.some(({ policy }) => policy !== "normal") && { policies: entries.map(({ policy }) => policy) }),
        ...named,
        ...(level && { level }),
        tokensBefore,
        tokensAfter,
        ...(isVain && { vain: true as const }),
        ...(request >= 0 && { request }),
      });
    },
  });
}

function requestOf(loop: Loop): Message | undefined {
  const { request, conversation } = sessionOf(loop);
  return request === undefined ? undefined : conversation.messages[request];
}

function checked(result: unknown): { readonly messages: readonly Message[]; readonly summary: string } {
  const { messages, summary } = (result ?? {}) as { readonly messages?: unknown; readonly summary?: unknown };
  if (Array.isArray(messages) && messages.length > 0 && messages.every(isMessage) && typeof summary === "string")
    return { messages, summary };
  throw new AgentError({
    kind: "panic",
    callback: "compact",
    message: "compact must return { messages, summary }, with at least one message",
  });
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "role" in value && Array.isArray((value as Message).content);
}
