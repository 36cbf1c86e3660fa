import {
  LogError,
  sessionLog,
  type BlobStore,
  type EventLog,
  type LogRecord,
  type SessionId,
  type StateReader,
  type StateStore,
} from "@keelson/protocol";
import { restoreLargeRecord } from "../large-records.ts";
import { isRecordOf } from "../record-data.ts";
import { isOfMemory } from "../remembered-items.ts";
import type { SessionsOptions } from "../sessions-options.ts";

/**
 * Why these sessions must stay: they wrote to a memory, by what their logs say, and there is no store to remove that from. Once they were gone, nobody
 * would know whose it is.
 */
export async function problemWithRemembered(
  { log, blobs, state }: Pick<SessionsOptions, "log" | "blobs" | "state">,
  sessions: readonly SessionId[],
): Promise<string | undefined> {
  if (isStateStore(state)) return undefined;
  for (const session of sessions)
    if (await hasRemembered(log, blobs, session))
      return `Session "${session}" remembered something in a state store, which would outlive it: give the runner that store as \`state\`, so that it goes too. Where the store is gone, an empty one will do.`;
  return undefined;
}

export function isStateStore(state: StateReader | undefined): state is StateStore {
  return state !== undefined && "delete" in state;
}

/** Whether an effect of it that belongs to a memory was carried out, or was begun and may have been. Of a damaged log, as far as it can be read. */
async function hasRemembered(log: EventLog, blobs: BlobStore, session: SessionId): Promise<boolean> {
  const declared = new Set<string>();
  const begun = new Set<string>();
  try {
    for await (const record of log.read(sessionLog(session))) {
      if (record.type === "effect") {
        const id = await memoryWriteIn(record, blobs);
        if (id !== undefined) declared.add(id);
      } else if (isRecordOf(record, "effect-attempt") && declared.has(record.data.id)) begun.add(record.data.id);
      else if (isRecordOf(record, "effect-done") && declared.has(record.data.id)) {
        if (record.data.failure === undefined) return true;
        begun.delete(record.data.id);
      }
    }
  } catch (error) {
    if (!LogError.is(error) || error.retryable || LogError.is(error, "closed")) throw error;
  }
  return begun.size > 0;
}

/** @returns the id of the effect */
async function memoryWriteIn(record: LogRecord, blobs: BlobStore): Promise<string | undefined> {
  const whole = await restoreLargeRecord(record, blobs);
  if (!isRecordOf(whole, "effect")) return undefined;
  const { effect, id = whole.key } = whole.data;
  return effect.type === "write-memory" && isOfMemory(effect.options?.metadata) ? id : undefined;
}
