import type { CompactionPolicy, Message } from "@keelson/protocol";

/** A message of a conversation with what compaction may do to it. */
export interface Entry {
  readonly message: Message;
  readonly policy: CompactionPolicy;
}
