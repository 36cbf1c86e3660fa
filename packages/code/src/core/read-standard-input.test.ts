import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { readStandardInput } from "./read-standard-input.ts";

it("joins all chunks, also inside a character", async () => {
  const input = new PassThrough();
  const reading = readStandardInput(input);
  const bytes = Buffer.from("schön\n");
  input.write(bytes.subarray(0, 4));
  input.end(bytes.subarray(4));
  await expect(reading).resolves.toBe("schön\n");
});

it("gives up on an input that is never written nor closed", async () => {
  vi.useFakeTimers();
  try {
    const reading = readStandardInput(new PassThrough(), { firstByteMs: 3_000 });
    vi.advanceTimersByTime(3_000);
    await expect(reading).resolves.toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it("waits for the end once something came", async () => {
  vi.useFakeTimers();
  try {
    const input = new PassThrough();
    const reading = readStandardInput(input, { firstByteMs: 3_000 });
    input.write("a");
    await vi.advanceTimersByTimeAsync(60_000);
    input.end("b");
    await expect(reading).resolves.toBe("ab");
  } finally {
    vi.useRealTimers();
  }
});

it("refuses more than it can take", async () => {
  const input = new PassThrough();
  const reading = readStandardInput(input, { maxBytes: 3 });
  input.end("abcd");
  await expect(reading).rejects.toThrow(/longer than 3 bytes/);
});
