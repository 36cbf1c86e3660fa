import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readWholeText } from "./byte-stream.ts";
import { Exchange } from "./exchange.ts";
import type { Timeouts } from "./timeouts.ts";
import type { TransportAnswer } from "./transport.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

interface Started {
  readonly exchange: Exchange;
  readonly answer: Promise<TransportAnswer>;
  /** What the carrier was told. */
  readonly told: string[];
}

/** An exchange whose answer the test brings by hand. */
function started(timeouts: Timeouts = {}): Started {
  const told: string[] = [];
  const exchange = new Exchange({
    host: "model.example",
    carry: () => ({
      pause: () => void told.push("pause"),
      resume: () => void told.push("resume"),
      destroy: () => void told.push("destroy"),
    }),
  });
  const answer = exchange.start({ method: "POST", url: "http://model.example/", headers: {}, timeouts });
  exchange.connected();
  return { exchange, answer, told };
}

function head(status: number, encoding?: string): Parameters<Exchange["head"]>[0] {
  return { status, headers: new Map(encoding === undefined ? [] : [["content-encoding", encoding]]) };
}

it("does not count the time of a slow reader when bytes come in after the pause", async () => {
  const { exchange, answer, told } = started({ idleMs: 100, totalMs: 0 });
  exchange.head(head(200));
  exchange.bytes(Buffer.alloc(300 * 1024, "x"));
  expect(told).toEqual(["pause"]);
  exchange.bytes(Buffer.from("y"));
  vi.advanceTimersByTime(60_000);
  const { body } = await answer;
  expect((await body.read())?.length).toBe(300 * 1024);
  expect(Buffer.from((await body.read()) ?? []).toString()).toBe("y");
  expect(told).toEqual(["pause", "resume"]);
  const waiting = expect(body.read()).rejects.toThrow("idleMs");
  vi.advanceTimersByTime(100);
  await waiting;
});

it.each(["gzip", "deflate", "br", "zstd"])("takes an answer without a body for whole that names the encoding %s", async (encoding) => {
  for (const status of [200, 204, 304]) {
    const { exchange, answer } = started();
    exchange.head(head(status, encoding));
    exchange.end();
    expect(await readWholeText((await answer).body, [])).toBe("");
  }
});

it("closes the connection when a compressed text has ended and more comes", async () => {
  const { exchange, answer, told } = started();
  exchange.head(head(200, "gzip"));
  exchange.bytes(Buffer.concat([gzipSync("all"), Buffer.alloc(20)]));
  expect(await readWholeText((await answer).body, [])).toBe("all");
  expect(told).toEqual(["destroy"]);
});

it("refuses a compressed text that breaks off", async () => {
  const { exchange, answer } = started();
  exchange.head(head(200, "gzip"));
  exchange.bytes(gzipSync("all of it").subarray(0, -4));
  exchange.end();
  await expect(readWholeText((await answer).body, [])).rejects.toThrow("broke off");
});
