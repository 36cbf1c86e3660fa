import type { BlobStore, EventLog, StateStore } from "@keelson/protocol";

/**
 * A log around another: it does by itself what `own` says, and leaves the rest to the one beneath, whose blobs and ledger are asked for
 * when somebody asks for them. It has an index where `own` brings it: what is sealed or changed on its way must not be found as it was. Disposing it disposes the log beneath.
 * @param blobsAround what stands around the blobs that live with the log; without it they are as they are
 * @param stateAround what stands around the state store that lives with the log; without it this log has none, as a log that seals what it is
 * given must not be taken for one whose state is sealed
 */
export function aroundEventLog(
  log: EventLog,
  own: Partial<Omit<EventLog, "blobs" | "ledger" | "state">>,
  blobsAround: (blobs: BlobStore) => BlobStore = (blobs) => blobs,
  stateAround?: (state: StateStore) => StateStore,
): EventLog {
  const around: EventLog = {
    append: (...request) => log.append(...request),
    read: (...request) => log.read(...request),
    head: (...request) => log.head(...request),
    list: (...request) => log.list(...request),
    delete: (...request) => log.delete(...request),
    acquire: (...request) => log.acquire(...request),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    ...own,
  };
  const seal = log.seal?.bind(log);
  if (seal !== undefined) around.seal ??= seal;
  let blobs: BlobStore | undefined;
  if ("blobs" in log)
    Object.defineProperty(around, "blobs", { enumerable: true, get: () => (blobs ??= log.blobs && blobsAround(log.blobs)) });
  if ("ledger" in log) Object.defineProperty(around, "ledger", { enumerable: true, get: () => log.ledger });
  let state: StateStore | undefined;
  if (stateAround !== undefined && "state" in log)
    Object.defineProperty(around, "state", { enumerable: true, get: () => (state ??= log.state && stateAround(log.state)) });
  return around;
}
