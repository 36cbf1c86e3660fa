import { type Tool, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { readEditable } from "../edits/editable-text.ts";
import { elisionPutIn } from "../edits/elision.ts";
import { compactDiff } from "./compact-diff.ts";
import { editEffects } from "./programs-of.ts";
import { readExisting } from "./read-existing.ts";
import { counted, splitLines, usesCrlf, withCrlf } from "./text-lines.ts";
import { flag, optional, text, toolInput } from "./tool-input.ts";
import type { EditContext, EditToolOptions } from "./edit-context.ts";
import { filesOf, plannedPath, realPath, shownPath, toolFailure } from "./call-files.ts";

export interface WriteFileInput {
  readonly path: string;
  readonly content: string;
  readonly overwrite?: boolean;
}

/** Makes a file, or replaces one that the session knows. */
export function createWriteFileTool({ exec }: EditToolOptions = {}): Tool<WriteFileInput, EditContext> {
  return defineTool.for<EditContext>()<WriteFileInput>({
    name: "write_file",
    description:
      "Write a whole file; missing folders are made. Use it for new files; to change a part of a file use edit_file. An existing file is replaced only if you read it before and it did not change since, or with overwrite.",
    effect: "write",
    category: "edit",
    risk: "medium",
    aliases: ["create_file"],
    input: toolInput({
      path: text("The file, relative to the working directory."),
      content: text("The whole content of the file."),
      overwrite: optional(flag("Replace an existing file although it was not read.")),
    }),
    permissionText: ({ path }, effects) => effects?.writes?.[0] ?? path,
    effectsOf: async ({ path }, where) => editEffects({ writes: [await plannedPath(where, path)] }, where, exec),

    async execute({ path, content, overwrite = false }, call) {
      const { signal, session } = call;
      const { changes, seen } = call.context;
      const files = filesOf(call, "write_file");
      const real = await realPath(files, path);
      const shown = shownPath(files, path);
      const before = await readExisting(files, path, signal);
      if (before !== undefined && !overwrite) {
        const known = seen.check(session, real, before);
        if (known === "never")
          throw toolFailure(
            "write_file",
            `${shown} exists already (${counted(before.byteLength, "byte")}) and was not read in this session. Read it first, change it with edit_file, or set overwrite to replace it unseen.`,
          );
        if (known === "partial")
          throw toolFailure(
            "write_file",
            `Only parts of ${shown} were read in this session. Read the rest of it first, change the parts that you know with edit_file, or set overwrite to replace it unseen.`,
          );
        if (known === "stale")
          throw toolFailure("write_file", `${shown} changed since you last read or wrote it. Read it again, then write.`);
      }
      const after = bytesFor(before, content);
      if (typeof after === "string") throw toolFailure("write_file", `${shown} was not written: ${after}.`);
      const placeholder = before === undefined ? undefined : elisionPutIn(readEditable(before)?.text ?? "", content);
      if (placeholder !== undefined)
        throw toolFailure(
          "write_file",
          `${shown} was not written: the content has the placeholder ${JSON.stringify(placeholder.trim())} in the place of text that it stands for. Write the whole content out, or change a part with edit_file.`,
        );
      if (before !== undefined && after.equals(before)) {
        seen.see(session, real, after);
        return `${shown} has this content already; nothing was written.`;
      }
      try {
        await changes.write(path, after, call, { ifUnchanged: before ?? null });
      } catch (error) {
        if (!VfsError.is(error, "conflict")) throw error;
        throw toolFailure(
          "write_file",
          `${shown} was ${before === undefined ? "made" : "changed"} by somebody else at the same time; it was not replaced. Read it, then decide.`,
          error,
        );
      }
      seen.see(session, real, after);
      return report(shown, before, after);
    },

    async reconcile({ path, content }, call) {
      const files = filesOf(call, "write_file");
      const now = await readExisting(files, path, call.signal);
      const written = bytesFor(now, content);
      if (now === undefined || typeof written === "string" || !written.equals(now)) return "not-done";
      return { output: `Wrote ${shownPath(files, path)} (${describe(now)}).` };
    },
  });
}

/**
 * The bytes of a content: for an existing text file in its encoding, with its byte order mark, and with CR LF if it has that throughout.
 * A string is the reason why it cannot be written so.
 */
function bytesFor(before: Uint8Array | undefined, content: string): Buffer | string {
  const existing = before === undefined || before.byteLength === 0 ? undefined : readEditable(before);
  if (existing === undefined) return Buffer.from(content, "utf8");
  const { text: old } = existing;
  const given = content.startsWith("\ufeff") ? content.slice(1) : content;
  return existing.apply([{ start: 0, end: old.length, text: usesCrlf(old) && !given.includes("\r\n") ? withCrlf(given) : given }]);
}

async function report(path: string, before: Uint8Array | undefined, after: Uint8Array): Promise<string> {
  if (before === undefined) return `Made ${path} (${describe(after)}).`;
  const [old, now] = [readEditable(before), readEditable(after)];
  const diff = old !== undefined && now !== undefined ? `\n${await compactDiff(old.text, now.text)}` : "";
  return `Replaced ${path} (${describe(after)}).${diff}`;
}

function describe(bytes: Uint8Array): string {
  return `${counted(splitLines(Buffer.from(bytes).toString("utf8")).length, "line")}, ${counted(bytes.byteLength, "byte")}`;
}
