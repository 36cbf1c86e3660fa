import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { type AfterSilence, readStandardInput } from "./read-standard-input.ts";

/** Time that a test lets pass. */
function createClock(): { readonly after: AfterSilence; pass(ms: number): void } {
  let now = 0;
  const timers = new Map<object, { readonly at: number; readonly act: () => void }>();
  return {
    after(ms, act) {
      const key = {};
      timers.set(key, { at: now + ms, act });
      return () => void timers.delete(key);
    },
    pass(ms) {
      now += ms;
      for (const [key, { at, act }] of timers) if (at <= now && timers.delete(key)) act();
    },
  };
}

const untold = (): void => expect.unreachable("nothing was waited for");
/** Until what was written to it has been read. */
const read = (input: PassThrough): Promise<void> => new Promise((resolve) => input.once("data", () => process.nextTick(resolve)));

it("joins all chunks, also inside a character", async () => {
  const input = new PassThrough();
  const reading = readStandardInput(input, { silent: "wait", onWaiting: untold });
  const bytes = Buffer.from("schön\n");
  input.write(bytes.subarray(0, 4));
  input.end(bytes.subarray(4));
  await expect(reading).resolves.toBe("schön\n");
});

it("gives up on an input that is never written nor closed, where there is something to do without it", async () => {
  const { after, pass } = createClock();
  const reading = readStandardInput(new PassThrough(), { silent: "give-up", onWaiting: untold, after });
  pass(3_000);
  await expect(reading).resolves.toBeUndefined();
});

it("tells once, after some seconds, that it waits for an input in which nothing comes, and waits on", async () => {
  const { after, pass } = createClock();
  const told: boolean[] = [];
  const input = new PassThrough();
  const reading = readStandardInput(input, { silent: "wait", onWaiting: (begun) => void told.push(begun), after });
  pass(2_999);
  expect(told).toEqual([]);
  pass(1);
  pass(60_000);
  expect(told).toEqual([false]);
  input.end("the task");
  await expect(reading).resolves.toBe("the task");
});

it.each(["give-up", "wait"] as const)("waits for the end once something came, and tells that it does (%s)", async (silent) => {
  const { after, pass } = createClock();
  const told: boolean[] = [];
  const input = new PassThrough();
  const reading = readStandardInput(input, { silent, onWaiting: (begun) => void told.push(begun), after });
  for (const chunk of ["a", "b"]) {
    pass(2_000);
    const taken = read(input);
    input.write(chunk);
    await taken;
  }
  expect(told).toEqual([]);
  pass(60_000);
  pass(60_000);
  expect(told).toEqual([true]);
  input.end("c");
  await expect(reading).resolves.toBe("abc");
});

it("refuses more than it can take", async () => {
  const input = new PassThrough();
  const reading = readStandardInput(input, { silent: "wait", onWaiting: untold, maxBytes: 3 });
  input.end("abcd");
  await expect(reading).rejects.toThrow(/longer than 3 bytes/);
});
