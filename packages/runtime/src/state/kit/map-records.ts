import type { LogRecord } from "@keelson/protocol";

/**
 * What a reader of a log gives, each record made into another. Calls of `next` are served in order, one that waits lets its reader leave, and
 * where `map` throws the reading ends.
 */
export function mapRecords(
  records: AsyncIterable<LogRecord>,
  createMap: () => (record: LogRecord) => LogRecord | Promise<LogRecord>,
): AsyncIterable<LogRecord> {
  return {
    [Symbol.asyncIterator]() {
      const reader = records[Symbol.asyncIterator]();
      const map = createMap();
      let before: Promise<unknown> = Promise.resolve();
      let failed = false;
      const nextOne = async (): Promise<IteratorResult<LogRecord>> => {
        if (failed) return { done: true, value: undefined };
        const { done, value } = await reader.next();
        if (done === true) return { done, value: undefined };
        try {
          return { done: false, value: await map(value) };
        } catch (error) {
          failed = true;
          await reader.return?.();
          throw error;
        }
      };
      return {
        next() {
          const result = before.then(nextOne);
          before = result.catch(() => undefined);
          return result;
        },
        async return() {
          // Not in its turn: a call of `next` may wait for ever.
          await reader.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
