import { type Tool, type ToolOutput, type Vfs, VfsError } from "@keelson/protocol";
import { defineTool } from "keelson/tools";
import type { LineRange } from "../reading/line-ranges.ts";
import type { DocumentForm, OtherDocument } from "../reading/open-document.ts";
import { presentLarge } from "../reading/present-large.ts";
import { presentText } from "../reading/present-text.ts";
import type { FileText, FileTexts, OpenedFile } from "../workspace/file-texts.ts";
import { readBudgetOf } from "../workspace/read-budget.ts";
import { explainMissing } from "./explain-missing.ts";
import { listDirectory } from "./list-directory.ts";
import { pagesField, type PageRange, rangesField } from "./read-fields.ts";
import { shownName } from "./shown-name.ts";
import { counted } from "./text-lines.ts";
import { flag, integer, optional, text, toolInput } from "./tool-input.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { filesOf, plannedPath, realPath, shownPath, toolFailure } from "./call-files.ts";

export interface ReadFileInput {
  readonly path: string;
  readonly ranges?: readonly LineRange[];
  readonly offset?: number;
  readonly limit?: number;
  readonly pages?: PageRange;
  readonly encoding?: string;
  readonly raw?: boolean;
}

type ReadContext = Pick<Workspace, "files" | "texts" | "seen">;

/** No read is longer than this, also if a window has room for it. */
const MAX_READ_TOKENS = 40_000;
const MAX_OUTPUT_BYTES = 192 * 1024;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;
const MAX_NOTEBOOK_IMAGES = 5;
/** The approximate tokens of an image for most models. */
const IMAGE_TOKENS = 1_600;

/** Shows a text file with line numbers, an image as an image, and a folder as its listing. */
export function createReadFileTool(): Tool<ReadFileInput, ReadContext> {
  return defineTool.for<ReadContext>()<ReadFileInput>({
    name: "read_file",
    description:
      "Read a file. Text comes as lines with their number and a tab in front, which are not part of the file. A file that is too long for the room that is left comes as a skeleton: the line ranges of its parts, two of them whole. Read the parts that you need with ranges, several in one call. Images (PNG, JPEG, GIF, WebP) are shown; PDFs and notebooks come as text. A folder is listed.",
    effect: "read",
    // Room for the text, its line numbers and the footer, so that nothing is cut that the footer announces.
    maxOutputBytes: MAX_OUTPUT_BYTES,
    input: toolInput({
      path: text("The file, relative to the working directory."),
      ranges: optional(rangesField()),
      offset: optional(integer("The first line to read, counted from 1.", { minimum: 1 })),
      limit: optional(integer("How many lines to read. Default: as many as there is room for.", { minimum: 1 })),
      pages: optional(pagesField()),
      encoding: optional(text("The encoding of the file, if the recognised one is wrong, as in shift_jis or windows-1251.")),
      raw: optional(flag("Show the JSON of a notebook, or a file of another kind as the text that its bytes are.")),
    }),
    permissionText: ({ path }, effects) => effects?.reads?.[0] ?? path,
    effectsOf: async ({ path }, where) => ({ reads: [await plannedPath(where, path)] }),
    async execute(input, call) {
      const { path } = input;
      const { signal, session } = call;
      const { texts, seen } = call.context;
      const files = filesOf(call, "read_file");
      const maxTokens = Math.min(MAX_READ_TOKENS, readBudgetOf(call.batch).perRead);
      return explainMissing(files, path, signal, async () => {
        const name = shownName(shownPath(files, path));
        const opened = await openFile(texts, input, { files, signal });
        switch (opened.kind) {
          case "folder":
            return listDirectory(files, path, signal);
          case "other":
            return presentOther(name, opened);
          case "large":
            return presentLarge(opened.text, { name, ranges: rangesOf(input), maxTokens, signal });
          case "text": {
            const presented = presentText(opened.text, { name, ranges: rangesOf(input), maxTokens });
            const real = await realPath(files, path);
            const { digest, form, lines } = opened.text;
            // A PDF or notebook as text shows nothing of the bytes that an overwrite would replace.
            const regions = form === "text" && presented.shown.length > 0 ? presented.shown : [{ start: 1, end: 0 }];
            for (const region of regions)
              seen.seeLines(session, real, digest, { ...region, total: form === "text" ? lines.length : Number.POSITIVE_INFINITY });
            const note = opened.changedWhileRead ? "\n[The file changed while it was read: some lines may be old. Read it again.]" : "";
            const pagesNote =
              input.pages !== undefined && form !== "pdf" ? "\n[The file is no PDF: pages was not used. Name lines with ranges.]" : "";
            return withImages(opened.text, presented.text + note + pagesNote, maxTokens);
          }
        }
      });
    },
  });
}

async function openFile(
  texts: FileTexts,
  { path, encoding, raw, pages }: ReadFileInput,
  { files, signal }: { readonly files: Vfs; readonly signal: AbortSignal },
): Promise<OpenedFile> {
  const form: DocumentForm = { encoding, raw, pages };
  try {
    return await texts.open(path, { files, signal, ...form });
  } catch (error) {
    if (VfsError.is(error, "is-directory")) return { kind: "folder" };
    if (!(error instanceof RangeError) || encoding === undefined) throw error;
    throw toolFailure(
      "read_file",
      `${encoding} is no encoding of the Encoding Standard. Name one such as utf-8, utf-16le, gb18030, shift_jis, euc-kr, big5 or windows-1251.`,
      error,
    );
  }
}

/** The regions that the input asks for. `undefined`: the whole file. */
function rangesOf({ ranges = [], offset, limit }: ReadFileInput): readonly LineRange[] | undefined {
  const start = offset ?? 1;
  const paged: readonly LineRange[] =
    offset === undefined && limit === undefined ? [] : [{ kind: "lines", start, ...(limit !== undefined && { end: start + limit - 1 }) }];
  const all = [...paged, ...ranges];
  return all.length === 0 ? undefined : all;
}

function presentOther(name: string, { document, size, content }: Extract<OpenedFile, { readonly kind: "other" }>): ToolOutput {
  if (document.kind === "image") return presentImage(name, content, size, document.mediaType);
  throw toolFailure("read_file", `${name} ${reasonUnreadable(name, document, size)}`);
}

function reasonUnreadable(name: string, document: Exclude<OtherDocument, { readonly kind: "image" }>, size: number): string {
  if (document.kind === "unreadable") return `${document.reason}.`;
  const sort = document.name === "binary" ? "a binary file" : `${document.name}, a binary file`;
  const command = document.command ?? "file";
  return `is ${sort} (${counted(size, "byte")}), which cannot be shown as text. Look at it with a command, for example: ${command} ${name}. If it is text all the same, set encoding.`;
}

function presentImage(name: string, content: Uint8Array, size: number, mediaType: string): ToolOutput {
  if (size > MAX_IMAGE_BYTES)
    throw toolFailure(
      "read_file",
      `${name} is an image of ${counted(size, "byte")}; at most ${counted(MAX_IMAGE_BYTES, "byte")} can be shown. Make a smaller copy with a command first.`,
    );
  return {
    type: "content",
    content: [
      { type: "text", text: `${name} (${mediaType}, ${counted(size, "byte")})` },
      { type: "image", mediaType, data: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64") },
    ],
  };
}

/** Adds the images of a notebook whose lines are shown. */
function withImages({ images, lines }: FileText, shown: string, maxTokens: number): ToolOutput {
  const visible = images.filter(({ line }) => `\n${shown}`.includes(`\n${line}\t${lines[line - 1]}`));
  if (visible.length === 0) return shown;
  const sent = visible
    .filter(({ data }) => data.length <= (MAX_IMAGE_BYTES * 4) / 3)
    .slice(0, Math.max(1, Math.min(MAX_NOTEBOOK_IMAGES, Math.floor(maxTokens / IMAGE_TOKENS))));
  const note =
    sent.length < visible.length
      ? `\n[${counted(visible.length - sent.length, "image")} of these lines are too large or too many to be sent.]`
      : "";
  return {
    type: "content",
    content: [{ type: "text", text: shown + note }, ...sent.map(({ mediaType, data }) => ({ type: "image" as const, mediaType, data }))],
  };
}
