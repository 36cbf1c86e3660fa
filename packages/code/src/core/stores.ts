import type { BlobStore, EventLog } from "@keelson/protocol";
import type { ApprovalKeys } from "keelson/agent";
import { loadApprovalKeys } from "keelson/agent";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { type Home, openHome } from "./home.ts";

/** Everything that outlives a run, opened. */
export interface Stores extends AsyncDisposable {
  readonly home: Home;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly keys: ApprovalKeys;
}

/** @throws AgentError or LogError that says what to do, when the home folder or its database cannot be used */
export async function openStores(environment: { readonly [name: string]: string | undefined }): Promise<Stores> {
  const home = await openHome(environment);
  const keys = await loadApprovalKeys(home.path);
  const log = createSqliteEventLog({ path: home.database });
  try {
    const blobs = createSqliteBlobStore({ path: home.database });
    return {
      home,
      log,
      blobs,
      keys,
      async [Symbol.asyncDispose]() {
        await blobs[Symbol.asyncDispose]();
        await log[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await log[Symbol.asyncDispose]();
    throw error;
  }
}
