import { LogError, type SessionId } from "@keelson/protocol";
import { logsOfSession } from "./delete-session.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { referencedBlobs } from "./referenced-blobs.ts";

/**
 * How large the records of these sessions are as JSON, and the blobs that they refer to.
 * @param counted digests of blobs that others need as well, and which are not counted again; these are added
 */
export async function bytesOfSession(
  { log, blobs }: Pick<SessionsOptions, "log" | "blobs">,
  sessions: readonly SessionId[],
  counted: Set<string>,
): Promise<{ readonly bytes: number; readonly damage?: string }> {
  let bytes = 0;
  try {
    for (const id of sessions.flatMap(logsOfSession)) {
      for await (const { data } of log.read(id)) bytes += Buffer.byteLength(JSON.stringify(data));
      for await (const digest of referencedBlobs(log, blobs, id)) {
        if (counted.size === counted.add(digest).size) continue;
        bytes += await blobs.get(digest).then(
          (content) => content.byteLength,
          (error: unknown) => {
            // A text may speak of digests of other things.
            if (LogError.is(error, "not-found")) return 0;
            throw error;
          },
        );
      }
    }
  } catch (error) {
    if (!LogError.is(error) || error.retryable || LogError.is(error, "closed")) throw error;
    return { bytes, damage: error.message };
  }
  return { bytes };
}
