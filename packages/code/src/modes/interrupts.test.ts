import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { createInterrupt, handleInterrupts } from "./interrupts.ts";

function setUp({ finishing = false } = {}): {
  readonly signals: EventEmitter;
  readonly did: string[];
  readonly notes: string[];
  readonly handle: Disposable;
} {
  const signals = new EventEmitter();
  const did: string[] = [];
  const notes: string[] = [];
  const handle = handleInterrupts(
    { stop: () => did.push("stop"), interrupt: () => did.push("interrupt"), abort: (reason) => did.push(`abort: ${reason}`) },
    { signals: signals as never, note: (text) => notes.push(text), giveUp: () => did.push("give up"), finishing: () => finishing },
  );
  return { signals, did, notes, handle };
}

it("stops at the first Ctrl-C, aborts at the second, gives up at the third", () => {
  const { signals, did } = setUp();
  for (let count = 0; count < 3; count += 1) signals.emit("SIGINT");
  expect(did).toEqual(["stop", "abort: interrupted twice", "give up"]);
});

it("says that it stops after this step where calls run on, and nothing where the answer ends at once", () => {
  for (const finishing of [true, false]) {
    const { signals, notes } = setUp({ finishing });
    signals.emit("SIGINT");
    expect(notes).toEqual(finishing ? ["stopping after this step; Esc ends it, Ctrl-C again aborts it"] : []);
  }
});

it("aborts at once when the process is asked to end", () => {
  const { signals, did } = setUp();
  signals.emit("SIGTERM");
  expect(did).toEqual(["abort: terminated"]);
});

it("gives the signals back", () => {
  const { signals, handle } = setUp();
  handle[Symbol.dispose]();
  expect(signals.listenerCount("SIGINT") + signals.listenerCount("SIGTERM")).toBe(0);
});

it("interrupts at Esc, also after a Ctrl-C, and aborts at the second", () => {
  const press = (keys: string): readonly string[] => {
    const did: string[] = [];
    const { ctrlC, escape } = createInterrupt(
      { stop: () => did.push("stop"), interrupt: () => did.push("interrupt"), abort: () => did.push("abort") },
      { note() {}, giveUp: () => did.push("give up"), finishing: () => true },
    );
    for (const key of keys) (key === "e" ? escape : ctrlC)();
    return did;
  };
  expect([press("eee"), press("cee"), press("ec"), press("ecc"), press("ccee")]).toEqual([
    ["interrupt", "abort"],
    ["stop", "interrupt", "abort"],
    ["interrupt", "abort"],
    ["interrupt", "abort", "give up"],
    ["stop", "abort"],
  ]);
});
