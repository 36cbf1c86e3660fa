import type { ToolCall } from "@keelson/protocol";

/** The call that makes a change. */
export type ChangingCall = Pick<ToolCall, "callId" | "session" | "runId" | "signal" | "environment">;

/** Makes the changes of files of all tools, so that each can be undone and no stored text outlives it. Paths are those of the tool's `files`. */
export interface FileChanges {
  /**
   * Writes a file. Throws `VfsError` of kind `conflict`, and writes nothing, if the file is not as expected.
   * @param options.ifUnchanged the content that the file must have now; `null`: it must not exist
   */
  write(path: string, content: Uint8Array, call: ChangingCall, options: { readonly ifUnchanged: Uint8Array | null }): Promise<void>;
  /** Deletes a file. Throws like `write`. */
  delete(path: string, call: ChangingCall, options: { readonly ifUnchanged: Uint8Array }): Promise<void>;
  /** Moves a file to a name that is free. Throws like `write`. */
  move(from: string, to: string, call: ChangingCall, options: { readonly ifUnchanged: Uint8Array }): Promise<void>;
}
