import { textMessage, type CompactionPolicy, type Message } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Conversation } from "./conversation.ts";

interface Entry {
  readonly message: Message;
  readonly policy?: CompactionPolicy;
}

const policies = fc.constantFrom<CompactionPolicy | undefined>(undefined, "normal", "pinned", "compress-first");
const entries: fc.Arbitrary<Entry> = fc
  .tuple(fc.string({ maxLength: 8 }), policies)
  .map(([text, policy]) => ({ message: textMessage("user", text), ...(policy !== undefined && { policy }) }));
const acts = fc.oneof(
  entries.map((entry) => ({ type: "append", entry }) as const),
  fc.array(entries, { maxLength: 4 }).map((list) => ({ type: "replace", list }) as const),
  fc.nat({ max: 6 }).map((length) => ({ type: "truncate", length }) as const),
);

describe("a conversation", () => {
  it("knows of each message what compaction may do to it, and what they take together, after whatever became of it", () => {
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 12 }), (all) => {
        const conversation = new Conversation();
        let expected: Entry[] = [];
        for (const act of all) {
          if (act.type === "append") {
            conversation.append(act.entry.message, act.entry.policy);
            expected.push(act.entry);
          } else if (act.type === "replace") {
            conversation.replace(act.list);
            expected = [...act.list];
          } else {
            conversation.truncate(act.length);
            expected = expected.slice(0, act.length);
          }
        }
        const afresh = new Conversation();
        for (const { message } of expected) afresh.append(message);
        expect(conversation.messages).toEqual(expected.map(({ message }) => message));
        expect(expected.map((_, index) => conversation.policyAt(index))).toEqual(expected.map(({ policy = "normal" }) => policy));
        expect(conversation.tokenBound).toBe(afresh.tokenBound);
      }),
    );
  });
});
