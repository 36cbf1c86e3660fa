import { LogError, type EventLog, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";

/** A log as it stands, on which can be written without that the log below changes. */
export interface LogLayer extends EventLog {
  /** What was written, in order, with where. */
  readonly added: readonly { readonly log: LogId; readonly record: LogRecord }[];
}

interface LayeredLog {
  /** Where the log below ended when it was first looked at: what others write to it since is not seen. */
  readonly base: number;
  /** Of its last record. */
  readonly baseAt: number;
  readonly records: LogRecord[];
}

/** Reads the log below, and keeps what is written to itself. Whoever asks for a lease has it: here nobody else works. */
export function createLogLayer(below: EventLog, now: () => number): LogLayer {
  const logs = new Map<LogId, Promise<LayeredLog>>();
  const added: { readonly log: LogId; readonly record: LogRecord }[] = [];

  function layered(log: LogId): Promise<LayeredLog> {
    let found = logs.get(log);
    if (found === undefined) logs.set(log, (found = look(log)));
    return found;
  }

  async function look(log: LogId): Promise<LayeredLog> {
    const base = await below.head(log);
    let baseAt = 0;
    if (base > 0)
      for await (const { at } of below.read(log, { after: base - 1 })) {
        baseAt = at;
        break;
      }
    return { base, baseAt, records: [] };
  }

  return {
    added,
    async append(log, expectedSeq, given) {
      const { base, baseAt, records } = await layered(log);
      const head = base + records.length;
      if (expectedSeq !== "any" && expectedSeq !== head)
        throw new LogError({
          kind: "conflict",
          log,
          expectedSeq,
          actualSeq: head,
          message: `expected ${expectedSeq} records in "${log}", there are ${head}`,
        });
      const at = Math.max(now(), records.at(-1)?.at ?? baseAt);
      for (const [index, { key, type, data }] of given.entries()) {
        const record = { key, type, data, seq: head + index + 1, at } satisfies NewRecord & LogRecord;
        records.push(record);
        added.push({ log, record });
      }
      return { seq: head + given.length, at };
    },
    async *read(log, { after = 0, follow = false, signal } = {}) {
      const { base, records } = await layered(log);
      if (after < base)
        // A signal ends a reader that waits, and refuses one that does not: the log below is never waited for.
        for await (const record of below.read(log, { after, ...(signal && !follow && { signal }) })) {
          if (record.seq > base || (follow && signal?.aborted)) break;
          yield record;
          if (record.seq === base) break;
        }
      for (const record of records.slice(Math.max(0, after - base))) yield record;
      if (follow) await over(signal);
    },
    head: async (log) => {
      const { base, records } = await layered(log);
      return base + records.length;
    },
    list: (options) => below.list(options),
    delete: async (log) => {
      throw new LogError({ kind: "other", message: `"${log}" is not deleted: here nothing of the log below is changed` });
    },
    acquire: async (log, { owner }) => ({
      log,
      owner,
      epoch: 1,
      tookOver: true,
      renew: async () => {},
      release: async () => {},
      [Symbol.asyncDispose]: async () => {},
    }),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Nobody writes to a layer but whoever reads it: what it waits for is its own end. */
async function over(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
}
