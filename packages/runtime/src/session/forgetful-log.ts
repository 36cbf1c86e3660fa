import { LogError, type BlobStore, type Digest, type EventLog, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import { digestOf } from "../json/digest.ts";

/** A log that numbers what it is given and keeps only inboxes: for a loop that nobody will resume or watch again. */
export function createForgetfulLog(now: () => number): EventLog {
  const heads = new Map<LogId, number>();
  const inboxes = new Map<LogId, LogRecord[]>();
  const readers = new Set<() => void>();
  return {
    async append(log, expectedSeq, records) {
      const head = heads.get(log) ?? 0;
      if (expectedSeq !== "any" && expectedSeq !== head)
        throw new LogError({
          kind: "conflict",
          log,
          expectedSeq,
          actualSeq: head,
          message: `expected ${expectedSeq} records in "${log}", there are ${head}`,
        });
      const at = now();
      heads.set(log, head + records.length);
      if (expectedSeq === "any") {
        const kept = inboxes.get(log) ?? [];
        kept.push(...records.map((record: NewRecord, index): LogRecord => ({ ...record, seq: head + index + 1, at })));
        inboxes.set(log, kept);
        for (const wake of readers) wake();
      }
      return { seq: head + records.length, at };
    },
    async *read(log, { after = 0, follow = false, signal } = {}) {
      for (let last = after; ;) {
        for (const record of (inboxes.get(log) ?? []).slice(last)) {
          last = record.seq;
          yield record;
        }
        if (!follow || signal?.aborted) return;
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            readers.delete(wake);
            signal?.removeEventListener("abort", wake);
            resolve();
          };
          readers.add(wake);
          signal?.addEventListener("abort", wake, { once: true });
        });
      }
    },
    head: async (log) => heads.get(log) ?? 0,
    list: async () => [],
    async delete(log) {
      heads.delete(log);
      inboxes.delete(log);
    },
    acquire: async (log, { owner }) => ({
      log,
      owner,
      epoch: 1,
      tookOver: false,
      renew: async () => {},
      release: async () => {},
      [Symbol.asyncDispose]: async () => {},
    }),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Names bytes and drops them. */
export const forgetfulBlobs: BlobStore = {
  put: async (bytes) => digestOf(bytes),
  get: (digest: Digest) =>
    Promise.reject(
      new LogError({ kind: "not-found", log: digest, message: "this loop keeps no blobs: run it in a runner that has a blob store" }),
    ),
  [Symbol.asyncDispose]: async () => {},
};
