import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { InputStream } from "../core/command-host.ts";
import { createLentKeys } from "./lent-keys.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const terminal = new PassThrough();
  const raw: boolean[] = [];
  const keys = createLentKeys(
    Object.assign(terminal, { isTTY: true as const, setRawMode: (on: boolean) => raw.push(on) }) as unknown as InputStream,
  );
  let read = "";
  keys.input.on("data", (chunk: Buffer) => void (read += chunk.toString()));
  return { terminal, keys, raw, read: () => read };
}

it("hands what is typed to the input, but for the keys that are lent meanwhile", async () => {
  const { terminal, keys, read } = open();
  const lent: string[] = [];
  terminal.write("a");
  await settle();
  const giveBack = keys.lend((sequence) => void lent.push(sequence));
  terminal.write("b\u001b[B\r");
  await settle();
  giveBack();
  terminal.write("c");
  await settle();
  expect([read(), lent]).toEqual(["ac", ["b", "\u001b[B", "\r"]]);
});

it("sets the mode of the terminal itself, and ends when it ends", async () => {
  const { terminal, keys, raw } = open();
  keys.input.setRawMode?.(true);
  const ended = new Promise((resolve) => keys.input.on("end", resolve));
  terminal.end();
  await ended;
  expect([keys.input.isTTY, raw]).toEqual([true, [true]]);
});

it("reads nothing while another program has the terminal", async () => {
  const { terminal, keys, read } = open();
  const readOn = keys.pause();
  terminal.write("for the other");
  await settle();
  expect(read()).toBe("");
  readOn();
  await settle();
  expect(read()).toBe("for the other");
});

it("reads a terminal that was read before", async () => {
  const { terminal, keys } = open();
  keys.close();
  const again = createLentKeys(terminal as InputStream);
  let read = "";
  again.input.on("data", (chunk: Buffer) => void (read += chunk.toString()));
  terminal.write("x");
  await settle();
  expect(read).toBe("x");
});
