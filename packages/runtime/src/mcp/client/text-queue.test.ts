import { expect, it } from "vitest";
import { createTextQueue } from "./text-queue.ts";

const failing = (): void => expect.unreachable();

it("gives what was added in its order, also to those that wait for it, and then ends", async () => {
  const queue = createTextQueue(100, failing);
  queue.push("a");
  const taken: string[] = [];
  const taking = (async () => {
    for await (const text of queue) taken.push(text);
  })();
  await Promise.resolve();
  queue.push("b");
  queue.push("c");
  queue.end();
  await taking;
  expect(taken).toEqual(["a", "b", "c"]);
  expect(queue.push("d")).toBe(false);
});

it("takes no more than it may hold, though a piece that is larger where there is no other", async () => {
  const queue = createTextQueue(3, failing);
  expect([queue.push("abcd"), queue.push("e")]).toEqual([true, false]);
  const taking = queue[Symbol.asyncIterator]();
  expect((await taking.next()).value).toBe("abcd");
  expect(queue.push("e")).toBe(true);
});

it("says where the other side takes no more, while that waits, too", async () => {
  let abandoned = 0;
  const queue = createTextQueue(100, () => void abandoned++);
  const taking = queue[Symbol.asyncIterator]();
  const next = taking.next();
  await taking.return?.();
  expect((await next).done).toBe(true);
  expect([abandoned, queue.push("a")]).toEqual([1, false]);
});
