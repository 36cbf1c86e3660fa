import { type Tool, type ToolOutput, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import { explainMissing } from "./explain-missing.ts";
import { listDirectory } from "./list-directory.ts";
import type { SeenFiles } from "./seen-files.ts";
import { counted, readContent, splitLines } from "./text-content.ts";
import { integer, optional, text, toolInput } from "./tool-input.ts";
import { filesOf, permissionPath, plannedPath, realPath, shownPath, toolFailure, type WorkspaceFiles } from "./workspace-files.ts";

export interface ReadFileInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}
export interface ReadFileOperations {
  readonly files: WorkspaceFiles;
  /** Remembers what was read, for tools that must not overwrite anything unseen. */
  readonly seen?: SeenFiles;
}

const DEFAULT_LINES = 1500;
const MAX_BYTES = 50 * 1024;
const MAX_LINE_CHARACTERS = 2000;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;

/** Shows a text file with line numbers, an image as an image, and a folder as its listing. */
export function createReadFileTool({ files: own, seen }: ReadFileOperations): Tool<ReadFileInput> {
  return defineTool<ReadFileInput>({
    name: "read_file",
    description: `Read a file. Text comes as lines with their number and a tab in front, which are not part of the file. At most ${DEFAULT_LINES} lines or 50 KiB at once: the last line says how to read on. Images (PNG, JPEG, GIF, WebP) are shown. A folder is listed.`,
    effect: "read",
    // The text, its line numbers and the footer, so that nothing of what is announced gets cut again.
    maxOutputBytes: MAX_BYTES + 16 * 1024,
    input: toolInput({
      path: text("The file, relative to the project."),
      offset: optional(integer("The first line to read, counted from 1.", { minimum: 1 })),
      limit: optional(integer(`How many lines to read. Default ${DEFAULT_LINES}.`, { minimum: 1 })),
    }),
    permissionText: ({ path }, effects) => effects?.reads?.[0] ?? permissionPath(own, path),
    effectsOf: async ({ path }, where) => ({ reads: [await plannedPath(where, own, path)] }),
    async execute({ path, offset = 1, limit = DEFAULT_LINES }, call) {
      const { signal, session } = call;
      const files = filesOf(call, own, "read_file");
      return explainMissing(files, path, signal, async () => {
        let content: Uint8Array;
        try {
          ({ content } = await files.read(path, { signal }));
        } catch (error) {
          if (VfsError.is(error, "is-directory")) return listDirectory(files, path, signal);
          throw error;
        }
        seen?.see(session, await realPath(files, path), content);
        return present(shownPath(files, path), content, offset, limit);
      });
    },
  });
}

function present(path: string, content: Uint8Array, offset: number, limit: number): ToolOutput {
  const found = readContent(content);
  if (found.kind === "image") return presentImage(path, content, found.mediaType);
  if (found.kind === "binary")
    throw toolFailure(
      "read_file",
      `${path} is a binary file (${counted(content.byteLength, "byte")}), which cannot be shown as text. Look at it with a command, for example: file ${path}`,
    );
  const lines = splitLines(found.text);
  const encoding =
    found.encoding === "utf-8"
      ? ""
      : `[The file is not UTF-8; it is shown as ${found.encoding === "latin1" ? "Latin-1" : found.encoding.toUpperCase()}.]`;
  if (lines.length === 0) return "[The file is empty.]";
  if (offset > lines.length) return `[The file has ${counted(lines.length, "line")}; line ${offset} is behind its end.]`;

  const shown: string[] = [];
  let bytes = 0;
  let next = offset;
  for (; next <= lines.length && shown.length < limit; next++) {
    const line = `${next}\t${cutLine(lines[next - 1] as string)}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES && shown.length > 0) break;
    shown.push(line);
  }
  if (encoding !== "") shown.push(encoding);
  if (offset > 1 || next <= lines.length)
    shown.push(`[Lines ${offset} to ${next - 1} of ${lines.length}.${next <= lines.length ? ` Read on with offset ${next}.` : ""}]`);
  return shown.join("\n");
}

function cutLine(line: string): string {
  return line.length <= MAX_LINE_CHARACTERS
    ? line
    : `${line.slice(0, MAX_LINE_CHARACTERS)} [... ${counted(line.length - MAX_LINE_CHARACTERS, "more character")} in this line]`;
}

function presentImage(path: string, content: Uint8Array, mediaType: string): ToolOutput {
  if (content.byteLength > MAX_IMAGE_BYTES)
    throw toolFailure(
      "read_file",
      `${path} is an image of ${counted(content.byteLength, "byte")}; at most ${counted(MAX_IMAGE_BYTES, "byte")} can be shown. Make a smaller copy with a command first.`,
    );
  return {
    type: "content",
    content: [
      { type: "text", text: `${path} (${mediaType}, ${counted(content.byteLength, "byte")})` },
      { type: "image", mediaType, data: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64") },
    ],
  };
}
