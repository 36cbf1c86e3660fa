import { type Executor, type Tool, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { compactDiff } from "./compact-diff.ts";
import { explainMissing } from "./explain-missing.ts";
import { findNearestText } from "./nearest-text.ts";
import { editEffects } from "./programs-of.ts";
import type { FileChanges } from "../workspace/file-changes.ts";
import { type Replaced, replaceText, wasReplaced } from "./replace-text.ts";
import type { SeenFiles } from "./seen-files.ts";
import { counted, readContent, splitLines } from "./text-content.ts";
import { flag, optional, text, toolInput } from "./tool-input.ts";
import { filesOf, permissionPath, plannedPath, realPath, shownPath, toolFailure, type WorkspaceFiles } from "./workspace-files.ts";

export interface EditFileInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}
export interface EditFileOperations {
  readonly files: WorkspaceFiles;
  readonly changes: FileChanges;
  readonly seen?: SeenFiles;
  /** Runs the commands of the agent. Present: edits that its sandbox would let a command make are not asked about. */
  readonly exec?: Executor | undefined;
}

// Somebody else writing the same file is rare; somebody doing it again and again is not ours to fight.
const MAX_ATTEMPTS = 3;
const MAX_NAMED_LINES = 10;

/** Replaces exact text in a file. */
export function createEditFileTool({ files: own, changes, seen, exec }: EditFileOperations): Tool<EditFileInput> {
  return defineTool<EditFileInput>({
    name: "edit_file",
    description:
      "Replace text in a file. old_string must be exactly what stands there (white space included, without line numbers) and must occur once: take more lines around it if it does not, or set replace_all. Line ends stay as they are in the file.",
    effect: "write",
    category: "edit",
    risk: "medium",
    input: toolInput({
      path: text("The file, relative to the project."),
      old_string: text("The text to replace."),
      new_string: text("What to put in its place."),
      replace_all: optional(flag("Replace every occurrence.")),
    }),
    permissionText: ({ path }, effects) => effects?.writes?.[0] ?? permissionPath(own, path),
    async effectsOf({ path }, where) {
      const planned = await plannedPath(where, own, path);
      return editEffects({ reads: [planned], writes: [planned] }, where, exec);
    },

    async execute(input, call) {
      const { signal, session } = call;
      const files = filesOf(call, own, "edit_file");
      return explainMissing(files, input.path, signal, async () => {
        const shown = shownPath(files, input.path);
        if (input.old_string === "")
          throw toolFailure("edit_file", "old_string is empty. Give the text to replace; to write a whole file use write_file.");
        if (input.old_string === input.new_string)
          throw toolFailure("edit_file", "old_string and new_string are the same; there is nothing to change.");
        for (let attempt = 1; ; attempt++) {
          const { content: before } = await files.read(input.path, { signal });
          const replaced = replaceText(before, input);
          if (replaced.kind !== "replaced") throw toolFailure("edit_file", explain(shown, before, input, replaced));
          try {
            await changes.write(input.path, replaced.content, call, { ifUnchanged: before });
          } catch (error) {
            if (VfsError.is(error, "conflict") && attempt < MAX_ATTEMPTS) continue;
            throw error;
          }
          seen?.see(session, await realPath(files, input.path), replaced.content);
          return `Edited ${shown}: ${counted(replaced.count, "replacement")}.\n${await compactDiff(textOf(before), textOf(replaced.content))}`;
        }
      });
    },

    async reconcile(input, call) {
      const files = filesOf(call, own, "edit_file");
      let content: Uint8Array;
      try {
        ({ content } = await files.read(input.path, { signal: call.signal }));
      } catch (error) {
        if (VfsError.is(error, "not-found")) return "not-done";
        throw error;
      }
      const verdict = wasReplaced(content, input);
      return verdict === "done" ? { output: `Edited ${shownPath(files, input.path)}.` } : verdict;
    },
  });
}

function explain(
  path: string,
  content: Uint8Array,
  { old_string }: EditFileInput,
  replaced: Exclude<Replaced, { readonly kind: "replaced" }>,
): string {
  switch (replaced.kind) {
    case "unsuitable":
      return `${path} cannot be edited: ${replaced.reason}.`;
    case "ambiguous": {
      const named = replaced.lines.slice(0, MAX_NAMED_LINES).join(", ");
      return `old_string occurs ${replaced.lines.length} times in ${path}, at lines ${named}${replaced.lines.length > MAX_NAMED_LINES ? " and more" : ""}. Add lines around it until it occurs once, or set replace_all.`;
    }
    case "absent": {
      const lines = splitLines(old_string);
      if (lines.length > 0 && lines.every((line) => /^\s*\d+\t/.test(line)))
        return `old_string does not occur in ${path}: its lines begin with line numbers, which are not part of the file. Leave them out.`;
      const nearest = findNearestText(textOf(content), old_string);
      if (nearest === undefined) return `old_string does not occur in ${path} (0 matches), nor anything like it. Read the file again.`;
      const difference = nearest.onlyWhitespace ? "The text there differs only in white space" : "The nearest text";
      return `old_string does not occur in ${path} (0 matches). ${difference}, at line ${nearest.line}:\n${nearest.excerpt}\nCopy it exactly, without the line numbers.`;
    }
  }
}

function textOf(content: Uint8Array): string {
  const found = readContent(content);
  return found.kind === "text" ? found.text : "";
}
