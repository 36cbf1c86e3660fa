import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { suspendProcess } from "./suspend-process.ts";

function setUp(platform = "linux"): {
  readonly own: EventEmitter & { readonly platform: string; readonly pid: number; kill(pid: number, signal: string): void };
  readonly sent: unknown[];
} {
  const sent: unknown[] = [];
  const own = Object.assign(new EventEmitter(), { platform, pid: 7, kill: (pid: number, signal: string) => void sent.push([pid, signal]) });
  return { own, sent };
}

describe("suspendProcess", () => {
  it("stops the process, and resolves when it continues", async () => {
    const { own, sent } = setUp();
    let isWaiting = true;
    const suspended = suspendProcess(own, () => () => (isWaiting = false));
    expect(sent).toEqual([[7, "SIGTSTP"]]);
    own.emit("SIGCONT");
    await suspended;
    expect([isWaiting, own.listenerCount("SIGCONT")]).toEqual([false, 0]);
  });

  it("goes on if the system ignores the signal, because no shell could continue the process", async () => {
    const { own } = setUp();
    let pass = (): void => {};
    const suspended = suspendProcess(own, (_ms, done) => {
      pass = done;
      return () => {};
    });
    pass();
    await suspended;
    expect(own.listenerCount("SIGCONT")).toBe(0);
  });

  it("does nothing on Windows", async () => {
    const { own, sent } = setUp("win32");
    await suspendProcess(own);
    expect(sent).toEqual([]);
  });
});
