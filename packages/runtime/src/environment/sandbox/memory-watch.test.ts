import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { type MemorySample, sampleMemory, watchMemory } from "./memory-watch.ts";

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("the watch over the memory of a sandbox", () => {
  it("ends the processes that hold more than the limit, no others, and none after its end", async () => {
    const killed: number[] = [];
    let next: MemorySample = new Map();
    let look = (): void => {};
    const watch = watchMemory(Promise.resolve(7), {
      limit: 100,
      sample: async (first) => (first === 7 ? next : new Map()),
      kill: (pid) => void killed.push(pid),
      repeat: (work) => ((look = work), () => {}),
    });
    await settled();
    next = new Map([
      [7, 10],
      [8, 100],
    ]);
    look();
    await settled();
    expect([killed, watch.hasEnded]).toEqual([[], false]);
    next = new Map([
      [8, 101],
      [9, 5],
      [10, 4000],
    ]);
    look();
    await settled();
    expect([killed, watch.hasEnded]).toEqual([[8, 10], true]);
    watch[Symbol.dispose]();
    look();
    await settled();
    expect(killed).toHaveLength(2);
  });

  it("survives a process that ends while it is looked at", async () => {
    let look = (): void => {};
    using watch = watchMemory(Promise.resolve(7), {
      limit: 1,
      sample: async () => new Map([[8, 2]]),
      kill: () => {
        throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
      },
      repeat: (work) => ((look = work), () => {}),
    });
    await settled();
    look();
    await settled();
    expect(watch.hasEnded).toBe(true);
  });

  it("sees the memory of descendants, and not that of other processes", async () => {
    const script = "const kept = Buffer.alloc(64 * 1024 * 1024, 1); console.log(process.pid); setInterval(() => kept.at(0), 1000)";
    const child = spawn("sh", ["-c", `"$1" -e "$2"; true`, "sh", process.execPath, script], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    try {
      const sample = await sampleMemory(child.pid ?? 0);
      expect(sample.get(Number(String(line)))).toBeGreaterThan(64 * 1024 * 1024);
      expect(sample.has(process.pid)).toBe(false);
    } finally {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    }
  });
});
