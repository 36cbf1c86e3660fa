import type { JsonObject, JsonValue, Message } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleSize } from "../../../../test/tier.ts";
import { hostileMessages, hostileRequest } from "./hostile.ts";
import { RequestMaker, TARGETS } from "./targets.ts";

const runs = sampleSize("requests of hostile models and servers, on each wire", { test: 150, ci: 600, soak: 5000 });

describe.each(TARGETS)("requests to $name", (target) => {
  it("pass the strict validator, whatever models, servers and users wrote [PV-02]", { timeout: 120_000 }, async () => {
    const maker = new RequestMaker(target);
    await fc.assert(
      fc.asyncProperty(hostileRequest(target.wire), async (request) => {
        expect(await maker.problems(request)).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it("keep the bytes of earlier messages from turn to turn, so that prompt caches hold", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(hostileMessages(target.wire), async (messages) => {
        const conversation = {};
        const incremental = new RequestMaker(target);
        for (let length = 1; length <= messages.length; length += 1) {
          if (!endsTurn(messages, length)) continue;
          const part = messages.slice(0, length);
          const kept = await incremental.body({ messages: part }, conversation);
          expect(kept).toEqual(await new RequestMaker(target).body({ messages: part }));
        }
      }),
      { numRuns: Math.ceil(runs / 5) },
    );
  });

  it("have results that name the calls they answer, two bad names being two names still", { timeout: 120_000 }, async () => {
    const names = ["look\uD83D", "look\uDE00", "look", " look", "look ", "$look", "#look", "x".repeat(90), `${"x".repeat(89)}y`];
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: names.map((name, at) => ({ type: "tool-call", id: `c_${at}` as never, name, input: {}, inputText: "{}" })),
      },
      ...names.map((name, at): Message => ({
        role: "tool",
        content: [{ type: "tool-result", id: `c_${at}` as never, name, output: `of ${at}` }],
      })),
    ];
    const maker = new RequestMaker(target);
    expect(await maker.problems({ messages })).toEqual([]);
    expect(new Set(namesOfCalls(await maker.body({ messages }))).size).toBe(names.length);
  });
});

function endsTurn(messages: readonly Message[], length: number): boolean {
  return messages[length - 1]?.role === "user";
}

/** The names of all calls in a body, whatever the wire. */
function namesOfCalls(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(namesOfCalls);
  if (typeof value !== "object" || value === null) return [];
  const object = value as JsonObject;
  const isCall = object["arguments"] !== undefined || object["args"] !== undefined || object["type"] === "tool_use";
  const own = isCall && typeof object["name"] === "string" ? [object["name"]] : [];
  return [...own, ...Object.values(object).flatMap(namesOfCalls)];
}
