import fc from "fast-check";
import type { InferEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { ByteStream } from "../transport/index.ts";
import { WithheldKeys } from "./withheld-keys.ts";
import { InferStream } from "./infer-stream.ts";
import { ChatDecoder } from "./openai-chat/chat-decoder.ts";

const context = { wire: "w", provider: "p", model: "m" };

const delta = (content: string | undefined, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

/** A response of which these chunks come one after another, each of them only when it is waited for. */
function streamOf(chunks: readonly string[], release: () => void = () => {}): InferStream {
  const left = chunks.map((chunk) => Buffer.from(chunk));
  const body: ByteStream = {
    read: () => Promise.resolve(left.shift()),
    poll: () => undefined,
    close: () => {},
    release: async () => release(),
  };
  return new InferStream({
    keys: new WithheldKeys(),
    context,
    send: () => Promise.resolve({ status: 200, header: () => undefined, body }),
    decoder: (queue, known) => new ChatDecoder(queue, known),
  });
}

it("gives the same events in the same order, however `next`, `poll` and `pollTexts` take turns", async () => {
  const text = fc.stringMatching(/^[a-z "\\\n]{1,6}$/);
  const chunk = fc.array(text, { minLength: 1, maxLength: 6 });
  const way = fc.constantFrom("next", "poll", "texts");
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { minLength: 1, maxLength: 5 }), fc.infiniteStream(way), async (texts, ways) => {
      const chunks = texts.map((some) => some.map((one) => delta(one)).join(""));
      const stream = streamOf([...chunks, `${delta(undefined, "stop")}data: [DONE]\n\n`]);
      const events: InferEvent[] = [];
      let together = 0;
      for (;;) {
        const { value: how } = ways.next();
        if (how === "texts") {
          const run = stream.pollTexts() ?? [];
          together += run.length;
          events.push(...run.map((one): InferEvent => ({ type: "text-delta", text: one })));
        } else {
          const event = how === "poll" ? stream.poll() : (await stream.next()).value;
          if (event !== undefined) events.push(event);
          else if (how === "next") break;
        }
      }
      expect(events.map(({ type }) => type)).toEqual(["text-start", ...texts.flat().map(() => "text-delta"), "text-end", "end"]);
      expect(events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))).toEqual(texts.flat());
      expect(together).toBeLessThan(texts.flat().length);
    }),
  );
});

it("gives deltas that came together as one, without those that were taken for themselves", async () => {
  const stream = streamOf([["a", "b", "c", "d", "e"].map((one) => delta(one)).join("")]);
  expect((await stream.next()).value).toEqual({ type: "text-start" });
  expect(stream.pollTexts()).toBeUndefined();
  // The first is what the others are recognised by.
  expect(stream.poll()).toEqual({ type: "text-delta", text: "a" });
  expect(stream.poll()).toEqual({ type: "text-delta", text: "b" });
  expect(stream.pollTexts()).toEqual(["c", "d", "e"]);
  expect(stream.poll()).toBeUndefined();
});

it("gives nothing more of what came together once it was left", async () => {
  const stream = streamOf([["a", "b", "c"].map((one) => delta(one)).join("")]);
  for (const _ of ["start", "a", "b"]) await stream.next();
  await stream.return();
  expect(stream.pollTexts()).toBeUndefined();
  expect(stream.poll()).toBeUndefined();
});

it.each([
  ["an event stream", [delta("a", "stop"), "data: [DONE]\n\n"]],
  ["an event stream in one piece", [`${delta("a", "stop")}data: [DONE]\n\n`]],
  ["an event stream that its last event does not end", [delta("a", "stop")]],
  ["one JSON text", ['{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}']],
])("gives the connection back once the response is whole: %s", async (_what, chunks) => {
  let released = 0;
  const stream = streamOf(chunks, () => void released++);
  let last: InferEvent | undefined;
  for await (const event of stream) last = event;
  expect(last?.type).toBe("end");
  expect(released).toBe(1);
});

describe("a stream of comments alone", () => {
  it.each([
    [": keep-alive\n\n", false],
    [": keep-alive", false],
    ["\n\n", false],
    ['event: ping\ndata: {"choices":[]}\n\n', true],
    ['data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n', true],
    ['data: {"choi', true],
  ])("is idle, and what else comes is not: %j", async (piece, alive) => {
    const reads: (boolean | undefined)[] = [];
    const pieces = ['data: {"choices":[]}\n\n', piece];
    const body: ByteStream = {
      read: async (isAlive) => {
        reads.push(isAlive);
        const next = pieces.shift();
        return next === undefined ? undefined : Buffer.from(next);
      },
      poll: () => undefined,
      close() {},
      release: async () => {},
    };
    const stream = new InferStream({
      context: { wire: "w", provider: "p", model: "m" },
      keys: new WithheldKeys(),
      send: async () => ({ status: 200, header: () => undefined, body }),
      decoder: (queue, known) => new ChatDecoder(queue, known),
    });
    await stream.next().catch(() => undefined);
    expect(reads).toEqual([true, true, alive]);
  });
});
