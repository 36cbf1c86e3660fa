import type { LogRecord } from "@keelson/protocol";

export async function recordsOf(records: AsyncIterable<LogRecord>): Promise<readonly LogRecord[]> {
  const list: LogRecord[] = [];
  for await (const one of records) list.push(one);
  return list;
}

export async function keysOf(records: AsyncIterable<LogRecord>): Promise<readonly string[]> {
  return (await recordsOf(records)).map(({ key }) => key);
}
