import { expect, it } from "vitest";
import { boundedFetch } from "./bounded-fetch.ts";

const answering = (body: string, type: string): ReturnType<typeof boundedFetch> =>
  boundedFetch(async () => new Response(body, { headers: { "content-type": type } }), { maxMessageBytes: 20 });

it("lets through what is small enough, and any number of small events", async () => {
  const events = "data: 12345\n\n".repeat(50);
  expect(await (await answering("x".repeat(20), "application/json")("http://a")).text()).toHaveLength(20);
  expect(await (await answering(events, "text/event-stream")("http://a")).text()).toBe(events);
  expect(await (await answering(events.replaceAll("\n", "\r\n"), "text/event-stream")("http://a")).text()).toContain("12345");
});

it("fails on a body, and on an event, that is too large", async () => {
  const body = await answering("x".repeat(21), "application/json")("http://a");
  await expect(body.text()).rejects.toThrow(/maxMessageBytes/);
  const event = await answering(`data: 1\n\ndata: ${"x".repeat(21)}`, "text/event-stream")("http://a");
  await expect(event.text()).rejects.toThrow(/maxMessageBytes/);
});

it("does not tell of a stream that held the answer, in whatever pieces it came", async () => {
  const told: boolean[] = [];
  const onStreamEnd = (isResumable: boolean): void => void told.push(isResumable);
  const read = async (text: string, cut: number): Promise<void> => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [text.slice(0, cut), text.slice(cut)]) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const headers = { "content-type": "text/event-stream" };
    await (await boundedFetch(async () => new Response(body, { headers }), { maxMessageBytes: 500, onStreamEnd })("http://a")).text();
  };
  const answer = `data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} })}\n\n`;
  for (let cut = 0; cut <= answer.length; cut++) await read(answer, cut);
  expect(told).toEqual([]);
  const progress = `data: ${JSON.stringify({ method: "notifications/progress", params: { message: 'the "result": 7' } })}\n\n`;
  await read(progress, 20);
  expect(told).toEqual([false]);
});

it("tells when a stream is over, and whether it can be asked for again", async () => {
  const told: boolean[] = [];
  const options = { maxMessageBytes: 100, onStreamEnd: (isResumable: boolean) => void told.push(isResumable) };
  for (const body of ["data: 1\n\n", "id: 7\ndata: 1\n\n"])
    await (
      await boundedFetch(async () => new Response(body, { headers: { "content-type": "text/event-stream" } }), options)("http://a")
    ).text();
  await (await boundedFetch(async () => new Response("{}"), options)("http://a")).text();
  expect(told).toEqual([false, true]);
});
