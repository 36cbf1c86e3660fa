import type { EventLog, Lease, LogRecord } from "@keelson/protocol";
import type { Seams } from "./seams.ts";
import { describeAppend } from "./step.ts";

/** A log as a process reaches it. */
export function disturbedLog(seams: Seams, log: EventLog): EventLog {
  return {
    append: (id, expectedSeq, records, options) =>
      seams.pass("append", describeAppend(id, records), () => log.append(id, expectedSeq, records, options)),
    read: (id, options) => {
      const records = (): AsyncIterable<LogRecord> => log.read(id, options);
      // Who follows waits for others, and takes no step.
      return options?.follow === true ? followed(seams, records()) : readOnce(seams, `${id}, after ${options?.after ?? 0}`, records);
    },
    head: (id) => seams.alive(() => log.head(id)),
    list: (options) => seams.alive(() => log.list(options)),
    delete: (id) => seams.alive(() => log.delete(id)),
    async acquire(id, options) {
      const lease = await seams.pass("acquire", `${id} for ${options.owner}`, () => log.acquire(id, options));
      return disturbedLease(seams, lease);
    },
    [Symbol.asyncDispose]: () => seams.alive(async () => log[Symbol.asyncDispose]()),
  };
}

function disturbedLease(seams: Seams, lease: Lease): Lease {
  return {
    log: lease.log,
    epoch: lease.epoch,
    owner: lease.owner,
    tookOver: lease.tookOver,
    renew: () => seams.alive(() => lease.renew()),
    release: () => seams.alive(() => lease.release()),
    [Symbol.asyncDispose]: () => seams.alive(async () => lease[Symbol.asyncDispose]()),
  };
}

async function* readOnce(seams: Seams, about: string, records: () => AsyncIterable<LogRecord>): AsyncGenerator<LogRecord> {
  const iterator = await seams.pass("read", about, async () => records()[Symbol.asyncIterator]());
  try {
    for (;;) {
      const next = await seams.alive(() => iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

function followed(seams: Seams, records: AsyncIterable<LogRecord>): AsyncIterable<LogRecord> {
  const settled = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result;
    } finally {
      await seams.alive(async () => {});
    }
  };
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = records[Symbol.asyncIterator]();
      return {
        next: () => settled(iterator.next()),
        return: () => settled(iterator.return?.() ?? Promise.resolve({ done: true as const, value: undefined })),
      };
    },
  };
}
