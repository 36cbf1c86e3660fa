import type { InboxEntry, InboxMessage, LogRecord, NewRecord } from "@keelson/protocol";

export function inboxRecord(key: string, message: InboxMessage): NewRecord {
  const { type, ...data } = message;
  return { key, type, data: data };
}

export function inboxEntry(record: LogRecord): InboxEntry {
  return { ...record.data, type: record.type, seq: record.seq, at: record.at, key: record.key } as InboxEntry;
}
