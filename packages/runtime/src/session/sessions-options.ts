import type { BlobStore, EventLog, SessionId, StateReader } from "@keelson/protocol";
import type { Clock } from "../platform/clock.ts";

export interface SessionsOptions {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseTtlMs: number;
  newId(): SessionId;
  /** What the sessions' agents remember. Where it is a `StateStore`, what a session remembered goes with it. */
  readonly state?: StateReader | undefined;
  /** Removes what is kept of a session elsewhere, such as in an index. Called before its logs are removed, and again where that was cut off. */
  readonly forgetSession?: ((session: SessionId) => Promise<void>) | undefined;
}
