import { LogError, type LogId, type NewRecord } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { createLogLayer } from "./log-layer.ts";

const LOG = "session/s" as LogId;

function records(from: number, count: number): readonly NewRecord[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${from + index}`, type: "t", data: { n: from + index } }));
}

async function seqs(read: AsyncIterable<{ readonly seq: number; readonly key: string }>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { seq, key } of read) found.push(`${seq} ${key}`);
  return found;
}

describe("createLogLayer", () => {
  it("reads as a log would that had been written to, and leaves the one below as it was", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }), fc.nat(16), async (below, appends, after) => {
        const base = createMemoryEventLog({ now: () => 5 });
        const model = createMemoryEventLog({ now: () => 5 });
        for (const log of [base, model]) if (below > 0) await log.append(LOG, 0, records(1, below));
        const layer = createLogLayer(base, () => 5);
        let head = below;
        for (const count of appends) {
          const batch = records(head + 1, count);
          expect(await layer.append(LOG, head, batch)).toEqual(await model.append(LOG, head, batch));
          head += count;
        }
        expect(await layer.head(LOG)).toBe(head);
        expect(await seqs(layer.read(LOG, { after }))).toEqual(await seqs(model.read(LOG, { after })));
        expect(layer.added.map(({ record }) => record.seq)).toEqual(Array.from({ length: head - below }, (_, index) => below + index + 1));
        expect(await base.head(LOG)).toBe(below);
      }),
    );
  });

  it("does not see what others write to the log below once it was looked at", async () => {
    const base = createMemoryEventLog();
    await base.append(LOG, 0, records(1, 2));
    const layer = createLogLayer(base, () => 0);
    expect(await layer.head(LOG)).toBe(2);
    await base.append(LOG, 2, records(3, 1));
    expect(await seqs(layer.read(LOG))).toEqual(["1 k1", "2 k2"]);
  });

  it("refuses a writer who expects another end, and whoever would delete", async () => {
    const layer = createLogLayer(createMemoryEventLog(), () => 0);
    await expect(layer.append(LOG, 1, records(1, 1))).rejects.toSatisfy((error) => LogError.is(error, "conflict"));
    await expect(layer.delete(LOG)).rejects.toSatisfy((error) => LogError.is(error, "other"));
  });

  it("gives its lease to whoever asks, and takes none below", async () => {
    const base = createMemoryEventLog();
    await base.acquire(LOG, { owner: "another", ttlMs: 60_000 });
    const lease = await createLogLayer(base, () => 0).acquire(LOG, { owner: "me", ttlMs: 60_000 });
    expect(lease).toMatchObject({ owner: "me", tookOver: true });
  });

  it("ends a reader that waits for more when its signal fires", async () => {
    const base = createMemoryEventLog();
    await base.append(LOG, 0, records(1, 1));
    const controller = new AbortController();
    const seen: number[] = [];
    for await (const { seq } of createLogLayer(base, () => 0).read(LOG, { follow: true, signal: controller.signal })) {
      seen.push(seq);
      controller.abort();
    }
    expect(seen).toEqual([1]);
    expect(await seqs(createLogLayer(base, () => 0).read(LOG, { follow: true, signal: controller.signal }))).toEqual([]);
  });
});
