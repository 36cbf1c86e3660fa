import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planBatches } from "./plan-batches.ts";

const anyCall = fc.record({ id: fc.nat(), tool: fc.record({ concurrency: fc.constantFrom("shared" as const, "exclusive" as const) }) });

describe("batches of tool calls", () => {
  it("keep every call once and in order, exclusive ones alone, neighbouring shared ones together [LA-17, CE-24]", () => {
    fc.assert(
      fc.property(fc.array(anyCall), (calls) => {
        const batches = planBatches(calls);
        expect(batches.flat()).toStrictEqual(calls);
        for (const [index, batch] of batches.entries()) {
          expect(batch.length).toBeGreaterThan(0);
          const shared = batch.every((call) => call.tool.concurrency === "shared");
          if (!shared) expect(batch).toHaveLength(1);
          // Two neighbouring shared batches would have been one.
          if (shared && index > 0) expect(batches[index - 1]?.[0]?.tool.concurrency).toBe("exclusive");
        }
      }),
    );
  });

  it("are split at the limit, and only there", () => {
    fc.assert(
      fc.property(fc.array(anyCall), fc.integer({ min: 1, max: 5 }), (calls, maxParallelCalls) => {
        const batches = planBatches(calls, { maxParallelCalls });
        expect(batches.flat()).toStrictEqual(calls);
        for (const [index, batch] of batches.entries()) {
          expect(batch.length).toBeLessThanOrEqual(maxParallelCalls);
          const next = batches[index + 1];
          if (batch[0]?.tool.concurrency === "shared" && next?.[0]?.tool.concurrency === "shared")
            expect(batch).toHaveLength(maxParallelCalls);
        }
      }),
    );
  });

  it("let the caller decide instead of the tool [LA-17]", () => {
    const calls = [1, 2, 3].map((id) => ({ id, tool: { concurrency: "shared" as const } }));
    expect(planBatches(calls, { decideConcurrency: (call) => (call.id === 2 ? "exclusive" : "shared") })).toStrictEqual([
      [calls[0]],
      [calls[1]],
      [calls[2]],
    ]);
  });

  it("refuse a limit that lets nothing run", () => {
    expect(() => planBatches([], { maxParallelCalls: 0 })).toThrow(RangeError);
    expect(() => planBatches([], { maxParallelCalls: Number.NaN })).toThrow(RangeError);
  });
});
