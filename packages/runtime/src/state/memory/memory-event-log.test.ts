import { type LogId, LogError } from "@keelson/protocol";
import { expect, it } from "vitest";
import { describeEventLog } from "../../testing/event-log-contract.ts";
import { createMemoryEventLog } from "./memory-event-log.ts";

describeEventLog("createMemoryEventLog", (now) => createMemoryEventLog({ now }));

it("[SE-03] forgets everything with its process: another memory log knows nothing of the first", async () => {
  await using first = createMemoryEventLog();
  await first.append("session/a" as LogId, 0, [{ key: "k", type: "t", data: {} }]);
  await using second = createMemoryEventLog();
  expect(await second.list()).toEqual([]);
});

it("refuses a record over its limit and says what to do with it", async () => {
  await using log = createMemoryEventLog({ maxRecordBytes: 20 });
  expect(await log.append("l" as LogId, 0, [{ key: "fits", type: "t", data: { a: "é".repeat(6) } }])).toMatchObject({ seq: 1 });
  const error: unknown = await log
    .append("l" as LogId, 1, [{ key: "large", type: "t", data: { a: "é".repeat(7) } }])
    .catch((reason: unknown) => reason);
  expect(LogError.is(error, "too-large") && error.failure).toMatchObject({
    limitBytes: 20,
    actualBytes: 22,
    message: expect.stringContaining("blob store"),
  });
  expect(await log.head("l" as LogId)).toBe(1);
});

it("wakes the readers that still wait when another of the same log has left", async () => {
  await using log = createMemoryEventLog();
  const [left, stayed] = [1, 2].map(() => log.read("l" as LogId, { follow: true })[Symbol.asyncIterator]());
  const waiting = [left?.next(), stayed?.next()];
  await left?.return?.();
  await log.append("l" as LogId, 0, [{ key: "k", type: "t", data: {} }]);
  expect((await Promise.all(waiting)).map((result) => [result?.done, result?.value?.key])).toEqual([
    [true, undefined],
    [false, "k"],
  ]);
});
