import { type Tool, type Vfs, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { readEditable } from "../edits/editable-text.ts";
import { explainFailure } from "../edits/explain-failure.ts";
import type { WantedEdit } from "../edits/place-edit.ts";
import { type EditsPlacement, placeEdits } from "../edits/place-edits.ts";
import { wereEdited } from "../edits/was-edited.ts";
import { compactDiff } from "./compact-diff.ts";
import { explainMissing } from "./explain-missing.ts";
import { editEffects } from "./programs-of.ts";
import { readExisting } from "./read-existing.ts";
import { counted } from "./text-lines.ts";
import { flag, list, optional, record, text, toolInput } from "./tool-input.ts";
import type { EditContext, EditToolOptions } from "./edit-context.ts";
import { filesOf, plannedPath, realPath, shownPath, toolFailure } from "./call-files.ts";

export interface Replacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}
export interface EditFileInput {
  readonly path: string;
  readonly old_string?: string;
  readonly new_string?: string;
  readonly replace_all?: boolean;
  readonly edits?: readonly Replacement[];
}

// Another writer of the same file is rare; one that writes again and again is not waited for.
const MAX_ATTEMPTS = 3;

/** Replaces text in a file. */
export function createEditFileTool({ exec }: EditToolOptions = {}): Tool<EditFileInput, EditContext> {
  const oldText = "The text to replace, exactly as it stands there.";
  return defineTool.for<EditContext>()<EditFileInput>({
    name: "edit_file",
    description:
      "Replace text in a file. old_string must be what stands there (white space included, without line numbers, every line written out) and must occur once: take more lines around it if it does not, or set replace_all. For several places of one file give edits: each is placed on the file as it is before the call, they must not overlap, and all are made or none. Line ends and the encoding stay as they are. An empty old_string makes a new file.",
    effect: "write",
    category: "edit",
    risk: "medium",
    input: toolInput({
      path: text("The file, relative to the working directory."),
      old_string: optional(text(oldText)),
      new_string: optional(text("The text to put in its place.")),
      replace_all: optional(flag("Replace every occurrence.")),
      edits: optional(
        list(
          "Several replacements in the file, in the place of old_string and new_string.",
          record("One replacement.", {
            old_string: text(oldText),
            new_string: text("The text to put in its place."),
            replace_all: optional(flag("Replace every occurrence.")),
          }),
        ),
      ),
    }),
    permissionText: ({ path }, effects) => effects?.writes?.[0] ?? path,
    async effectsOf({ path }, where) {
      const planned = await plannedPath(where, path);
      return editEffects({ reads: [planned], writes: [planned] }, where, exec);
    },

    async execute(input, call) {
      const { signal, session } = call;
      const { changes, seen } = call.context;
      const files = filesOf(call, "edit_file");
      const shown = shownPath(files, input.path);
      const edits = editsOf(input);
      const finish = async (content: Uint8Array): Promise<void> => seen.see(session, await realPath(files, input.path), content);
      if (edits.length === 1 && edits[0]?.old === "") {
        const content = await startFile(files, input.path, shown, edits[0].wanted, signal);
        await changes.write(input.path, content.after, call, { ifUnchanged: content.before });
        await finish(content.after);
        return `Made ${shown} (${counted(content.after.byteLength, "byte")}).`;
      }
      return explainMissing(files, input.path, signal, async () => {
        for (let attempt = 1; ; attempt++) {
          const { content: before } = await files.read(input.path, { signal });
          const placed = placeEdits(before, edits);
          if (placed.kind !== "placed") throw toolFailure("edit_file", explain(shown, before, edits, placed));
          try {
            await changes.write(input.path, placed.content, call, { ifUnchanged: before });
          } catch (error) {
            if (VfsError.is(error, "conflict") && attempt < MAX_ATTEMPTS) continue;
            throw error;
          }
          await finish(placed.content);
          const notes = placed.notes.map((note) => `\n[${note}]`).join("");
          return `Edited ${shown}: ${counted(placed.count, "replacement")}.${notes}\n${await compactDiff(textOf(before), textOf(placed.content))}`;
        }
      });
    },

    async reconcile(input, call) {
      const files = filesOf(call, "edit_file");
      const content = await readExisting(files, input.path, call.signal);
      const edits = editsOf(input);
      if (content === undefined) return "not-done";
      const [first] = edits;
      if (edits.length === 1 && first?.old === "")
        return Buffer.from(first.wanted, "utf8").equals(content) ? { output: `Made ${shownPath(files, input.path)}.` } : "not-done";
      const verdict = wereEdited(content, edits);
      return verdict === "done" ? { output: `Edited ${shownPath(files, input.path)}.` } : verdict;
    },
  });
}

function editsOf({ old_string, new_string, replace_all, edits = [] }: EditFileInput): readonly WantedEdit[] {
  const one = old_string === undefined && new_string === undefined ? [] : [{ old_string, new_string, replace_all }];
  if (one.length > 0 && edits.length > 0)
    throw toolFailure("edit_file", "The call has old_string or new_string beside edits. Put all replacements into edits.");
  const given = one.length > 0 ? one : edits;
  if (given.length === 0) throw toolFailure("edit_file", "The call replaces nothing. Give old_string and new_string, or edits.");
  return given.map(({ old_string: old, new_string: wanted, replace_all: isForAll = false }) => {
    if (old === undefined || wanted === undefined)
      throw toolFailure(
        "edit_file",
        `The call has no ${old === undefined ? "old_string" : "new_string"}. To delete text, set new_string to "".`,
      );
    if (old === "" && given.length > 1) throw toolFailure("edit_file", "An old_string of edits is empty. Give the text to replace.");
    return { old, wanted, isForAll };
  });
}

/** An empty old text makes a file, or fills one that is empty. */
async function startFile(
  files: Vfs,
  path: string,
  shown: string,
  content: string,
  signal: AbortSignal,
): Promise<{ readonly before: Uint8Array | null; readonly after: Uint8Array }> {
  const before = await readExisting(files, path, signal);
  if (before === undefined || before.byteLength === 0) return { before: before ?? null, after: Buffer.from(content, "utf8") };
  throw toolFailure(
    "edit_file",
    `old_string is empty, and ${shown} exists already (${counted(before.byteLength, "byte")}). Give the text to replace; to write a whole file use write_file.`,
  );
}

function explain(
  path: string,
  content: Uint8Array,
  edits: readonly WantedEdit[],
  placed: Exclude<EditsPlacement, { readonly kind: "placed" }>,
): string {
  if (placed.kind === "binary") return `${path} cannot be edited: it is not a text file.`;
  const edit = edits[placed.index] as WantedEdit;
  const which = edits.length === 1 ? "" : `edits[${placed.index}] of ${edits.length} cannot be made, so none was. `;
  return which + explainFailure(placed.failure, { path, text: textOf(content), old: edit.old, name: "old_string" });
}

function textOf(content: Uint8Array): string {
  return readEditable(content)?.text ?? "";
}
