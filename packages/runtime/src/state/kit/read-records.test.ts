import type { LogRecord } from "@keelson/protocol";
import { expect, it } from "vitest";
import { readRecords, type RecordSource } from "./read-records.ts";

const record = (seq: number): LogRecord => ({ seq, at: 0, key: `k${seq}`, type: "t", data: {} });

/** Answers pages when it is told to, and says who listens. */
function slowSource() {
  const asked: ((page: readonly LogRecord[]) => void)[] = [];
  const listening = new Set<() => void>();
  const waiting: (() => void)[] = [];
  const source: RecordSource = {
    page() {
      const { promise, resolve } = Promise.withResolvers<readonly LogRecord[]>();
      asked.push(resolve);
      waiting.shift()?.();
      return promise;
    },
    listen(wake) {
      listening.add(wake);
      return () => listening.delete(wake);
    },
  };
  /** Answers the next question for a page, once it is asked. */
  async function answer(...page: readonly LogRecord[]): Promise<void> {
    if (asked.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    asked.shift()?.(page);
  }
  return { source, answer, listening };
}

it("ends a follower whose signal fires while its source looks, whatever look that is", async () => {
  for (const looks of [0, 1]) {
    const { source, answer, listening } = slowSource();
    const stop = new AbortController();
    const reader = readRecords(source, { follow: true, signal: stop.signal })[Symbol.asyncIterator]();
    const next = reader.next();
    for (let look = 0; look < looks; look++) await answer();
    stop.abort();
    for (let look = looks; look < 2; look++) await answer();
    expect(await next).toMatchObject({ done: true });
    expect(listening.size).toBe(0);
  }
});

it("sees what came between its look and its listening, and listens only while somebody waits", async () => {
  const { source, answer, listening } = slowSource();
  const reader = readRecords(source, { follow: true })[Symbol.asyncIterator]();
  const first = reader.next();
  await answer();
  await answer(record(1));
  expect(await first).toEqual({ done: false, value: record(1) });
  expect(listening.size).toBe(0);
  const second = reader.next();
  await answer();
  await answer();
  for (const wake of listening) wake();
  await answer(record(2));
  expect(await second).toEqual({ done: false, value: record(2) });
  expect(listening.size).toBe(0);
});

it("lets a reader leave while its source looks or while it waits", async () => {
  const { source, answer, listening } = slowSource();
  const reader = readRecords(source, { follow: true })[Symbol.asyncIterator]();
  const next = reader.next();
  await answer();
  const left = reader.return?.();
  await answer();
  expect(await next).toMatchObject({ done: true });
  await left;
  expect(listening.size).toBe(0);
});
