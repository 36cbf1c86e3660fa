import type { FileChanges } from "../workspace/file-changes.ts";
import type { WorkspaceFiles } from "../workspace/workspace-files.ts";
import { shownPath } from "../tools/call-files.ts";
import type { ToolHistory } from "./create-file-history.ts";

/** The same changes, each of which can be undone. */
export function recordChanges(changes: FileChanges, files: WorkspaceFiles, history: ToolHistory): FileChanges {
  return {
    write: (path, content, call, options) =>
      history.edit([{ path, content }], call, `write ${shownPath(files, path)}`, () => changes.write(path, content, call, options)),
    delete: (path, call, options) =>
      history.edit([{ path, content: null }], call, `delete ${shownPath(files, path)}`, () => changes.delete(path, call, options)),
    move: (from, to, call, options) =>
      history.edit(
        [
          { path: from, content: null },
          { path: to, content: options.ifUnchanged },
        ],
        call,
        `move ${shownPath(files, from)} to ${shownPath(files, to)}`,
        () => changes.move(from, to, call, options),
      ),
  };
}
