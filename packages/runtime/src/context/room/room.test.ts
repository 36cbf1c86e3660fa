import type { CallId, CompactionPolicy, Message } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conversationTokens } from "./conversation-tokens.ts";
import { cutResults } from "./cut-results.ts";
import type { Entry } from "./entry.ts";
import { foldIntoSummary, splitForSummary } from "./fold-into-summary.ts";
import { shortenResults } from "./shorten-results.ts";
import { transcriptOf } from "./transcript.ts";

const said = fc.string({ maxLength: 40 }).map((text) => `Said ${text}`);
const long = fc.integer({ min: 0, max: 3_000 }).map((length) => "some words ".repeat(length));

/** Turns as the loop makes them: what the user says, answers, calls with their results. */
const conversation: fc.Arbitrary<readonly Entry[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("user", "answer", "calls", "calls", "calls"),
      text: said,
      results: fc.array(long, { minLength: 1, maxLength: 3 }),
      policy: fc.constantFrom<CompactionPolicy>("normal", "normal", "normal", "pinned"),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((turns) => {
    let calls = 0;
    return turns.flatMap(({ kind, text, results, policy }): Entry[] => {
      if (kind !== "calls")
        return [{ message: { role: kind === "user" ? "user" : "assistant", content: [{ type: "text", text }] }, policy }];
      const ids = results.map(() => `c_${++calls}` as CallId);
      return [
        {
          message: { role: "assistant", content: ids.map((id) => ({ type: "tool-call", id, name: "look", input: {}, inputText: "{}" })) },
          policy,
        },
        ...ids.map((id, index): Entry => {
          const content: Message["content"] = [{ type: "tool-result", id, name: "look", output: results[index] as string }];
          return { message: { role: "tool", content }, policy };
        }),
      ];
    });
  });
const tokens = fc.integer({ min: 0, max: 20_000 });

function tokensOf(entries: readonly Entry[]): number {
  return conversationTokens(entries.map(({ message }) => message));
}

function idsOf(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ message: { role, content } }) =>
    content.map((part) => `${role} ${part.type} ${"id" in part ? String(part.id) : ""}`),
  );
}

describe("room in a conversation", () => {
  it("is made of old results, the oldest first, and of nothing else: every message and part keeps its place", () => {
    fc.assert(
      fc.property(conversation, tokens, (entries, goal) => {
        const shortened = shortenResults(entries, goal);
        if (shortened === undefined) return;
        expect(idsOf(shortened.entries)).toEqual(idsOf(entries));
        expect(tokensOf(shortened.entries)).toBeLessThan(tokensOf(entries));
        const changed = entries.flatMap((entry, index) => (entry === shortened.entries[index] ? [] : [entry]));
        expect(changed).toHaveLength(shortened.shortened);
        for (const { message, policy } of changed) expect([message.role, policy]).toEqual(["tool", "normal"]);
        // The last calls, which nobody has answered yet, stand whole.
        const response = entries.findLastIndex(({ message }) => message.role === "assistant");
        expect(shortened.entries.slice(response)).toEqual(entries.slice(response));
      }),
    );
  });

  it("is made by a summary of all that is old: what is pinned and what comes next stay, and no result is left without its call", () => {
    fc.assert(
      fc.property(conversation, tokens, (entries, goal) => {
        const parts = splitForSummary(entries, goal);
        if (parts === undefined) return;
        const folded = foldIntoSummary(parts, "It came to this.");
        expect(folded.at(-1)).toBe(entries.at(-1));
        for (const entry of entries) if (entry.policy === "pinned" && entry.message.role === "user") expect(folded).toContain(entry);
        const open = new Set<string>();
        for (const { message } of folded)
          for (const part of message.content) {
            if (part.type === "tool-call") open.add(part.id);
            if (part.type === "tool-result") expect(open.delete(part.id)).toBe(true);
          }
        expect(open.size).toBe(0);
      }),
    );
  });

  it("is made, at last, by cutting the results that are left to their share", () => {
    fc.assert(
      fc.property(conversation, tokens, (entries, goal) => {
        const cut = cutResults(entries, goal);
        if (cut === undefined) return;
        expect(idsOf(cut)).toEqual(idsOf(entries));
        expect(tokensOf(cut)).toBeLessThan(tokensOf(entries));
        expect(cutResults(cut, goal)).toBeUndefined();
      }),
    );
  });

  it("is told of in a transcript that is never longer than asked for", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 100, max: 10_000 }), (entries, bytes) => {
        const messages = entries.map(({ message }) => message);
        expect(Buffer.byteLength(transcriptOf(messages, bytes))).toBeLessThanOrEqual(bytes);
      }),
    );
  });
});
