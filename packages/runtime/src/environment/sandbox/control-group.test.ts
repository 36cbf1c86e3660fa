import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { createControlGroup } from "./control-group.ts";

const group = await createControlGroup({ processes: 10, memory: 1024 ** 3, cpus: 1 });
await group?.remove();

it.skipIf(group === undefined)(
  "a control group of a process that was killed is removed by the next, and one of a process that lives is not",
  async () => {
    const parent = dirname(dirname(group?.entries[0] ?? ""));
    // No process has this number: Linux gives out none above 2 ** 22.
    const [left, live] = [join(parent, "keelson-99999999-left"), join(parent, `keelson-${process.ppid}-live`)];
    for (const folder of [left, live]) mkdirSync(folder);
    try {
      const made = await createControlGroup({ processes: 10 });
      expect([existsSync(left), existsSync(live)]).toEqual([false, true]);
      await made?.remove();
      for (const entry of made?.entries ?? []) expect(existsSync(dirname(entry))).toBe(false);
    } finally {
      rmdirSync(live);
    }
  },
);

it.skipIf(group?.boundsMemory !== true)("a control group bounds the memory of all its processes together", async () => {
  const made = await createControlGroup({ processes: 10, memory: 64 * 1024 * 1024 });
  try {
    const limits = (made?.entries ?? []).flatMap((entry) =>
      ["memory.limit_in_bytes", "memory.max"].map((name) => join(dirname(entry), name)).filter((path) => existsSync(path)),
    );
    expect(limits.map((path) => readFileSync(path, "utf8").trim())).toEqual([String(64 * 1024 * 1024)]);
  } finally {
    await made?.remove();
  }
});

it.skipIf(group?.boundsCpus !== true)("a control group bounds the processors that all its processes use together", async () => {
  const made = await createControlGroup({ processes: 10, cpus: 0.5 });
  try {
    const limits = (made?.entries ?? []).flatMap((entry) =>
      ["cpu.cfs_quota_us", "cpu.max"].map((name) => join(dirname(entry), name)).filter((path) => existsSync(path)),
    );
    expect(limits.map((path) => readFileSync(path, "utf8").split(" ")[0]?.trim())).toEqual(["50000"]);
  } finally {
    await made?.remove();
  }
});
