import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type AbortWatcher, isAborted, unwatchAbort, watchAbort, WatchedAbort } from "./watched-abort.ts";

function watcher(name: string, told: string[]): AbortWatcher {
  return { handleEvent: () => void told.push(name) };
}

describe("a signal that is watched", () => {
  it("tells whoever watches it, once, and nobody who went away before", () => {
    const abort = new WatchedAbort();
    const told: string[] = [];
    const [a, b, c] = [watcher("a", told), watcher("b", told), watcher("c", told)];
    for (const each of [a, b, c]) watchAbort(abort.signal, each);
    unwatchAbort(abort.signal, a);
    unwatchAbort(abort.signal, a);
    abort.abort("enough");
    abort.abort("again");
    expect(told.toSorted()).toEqual(["b", "c"]);
    expect(abort.reason).toBe("enough");
  });

  it("is a signal like any other for those who listen to it, and costs none a listener of the platform otherwise", () => {
    const abort = new WatchedAbort();
    const { signal } = abort;
    const told: string[] = [];
    watchAbort(signal, watcher("watcher", told));
    expect(getEventListeners(signal, "abort")).toEqual([]);
    signal.addEventListener("abort", () => told.push(`listener: ${String(signal.reason)}`));
    expect(isAborted(signal)).toBe(false);
    abort.abort("enough");
    expect(told).toEqual(["listener: enough", "watcher"]);
    expect([signal.aborted, isAborted(signal)]).toEqual([true, true]);
  });

  it("has fired where it is asked for after the end", () => {
    const abort = new WatchedAbort();
    abort.abort("enough");
    expect([abort.signal.aborted, abort.signal.reason, isAborted(abort.signal)]).toEqual([true, "enough", true]);
  });

  it("is listened to where it is somebody else's, and left without a listener afterwards", () => {
    const controller = new AbortController();
    const told: string[] = [];
    const [a, b] = [watcher("a", told), watcher("b", told)];
    watchAbort(controller.signal, a);
    watchAbort(controller.signal, b);
    unwatchAbort(controller.signal, b);
    controller.abort();
    expect(told).toEqual(["a"]);
    expect(isAborted(controller.signal)).toBe(true);
    unwatchAbort(controller.signal, a);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});
