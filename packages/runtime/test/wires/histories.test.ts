import type { InferRequest, JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories, type History } from "./histories.ts";
import { RequestMaker, type Target, TARGETS } from "./targets.ts";

const originOf = ({ wire, model }: Target): { wire: string; model: string } => ({ wire, model });
const pairs = TARGETS.flatMap((from) => TARGETS.map((to) => ({ from: from.name, to: to.name, source: from, target: to })));
const tools: NonNullable<InferRequest["tools"]> = [
  { name: "look", description: "Looks", inputSchema: { type: "object", properties: { q: { type: "string" } } } },
];

/** Every string in a body. Bodies hold JSON in strings: those are told whole. */
function said(value: JsonValue | undefined): string {
  if (typeof value === "string") return `${value}\n`;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value)
    .map((each) => said(each as JsonValue))
    .join("");
}

async function check(maker: RequestMaker, { messages, words }: History, conversation: object): Promise<void> {
  const request = { messages, tools, system: "Be brief." };
  const body = await maker.body(request, conversation);
  expect(await maker.problems(request, conversation)).toEqual([]);
  const text = said(body);
  for (const word of words) expect(text.split(word).length, `${word} stands once in ${text}`).toBe(2);
}

describe.each(pairs)("a conversation of $from that goes on with $to", ({ source, target }) => {
  it("is always one that the API takes, says all that was said, and each thing once", async () => {
    await fc.assert(
      fc.asyncProperty(histories([originOf(source), originOf(target)]), async (history) => {
        const maker = new RequestMaker(target);
        await check(maker, history, {});
      }),
      { numRuns: 40 },
    );
  });
});

describe.each(TARGETS)("a session with $name that grows", (target) => {
  it("makes the same requests, message by message, as one that is encoded anew", async () => {
    await fc.assert(
      fc.asyncProperty(histories(TARGETS.map(originOf)), async ({ messages }) => {
        const kept = new RequestMaker(target);
        const conversation = {};
        for (let length = 1; length <= messages.length; length += 1) {
          const request = { messages: messages.slice(0, length), tools };
          expect(await kept.body(request, conversation)).toEqual(await new RequestMaker(target).body(request));
        }
      }),
      { numRuns: 25 },
    );
  });
});
