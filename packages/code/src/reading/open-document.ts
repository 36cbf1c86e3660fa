import { extname } from "node:path/posix";
import { decodeText, type DecodedText } from "./decode-text.ts";
import { fileKindOf, type FileKind } from "./file-kinds.ts";
import type { NotebookImage } from "./notebook-text.ts";
import type { Block } from "./outline/block.ts";
import { outlinerOf } from "./outline/outliner-of.ts";
import { type LineEnds, splitText } from "./split-lines.ts";
import { encodingName } from "./text-encoding.ts";

/** A file as lines of text. */
export interface TextDocument {
  readonly kind: "text";
  /** `text`: the lines of the file; else the lines that a PDF or a notebook is shown as. */
  readonly form: "text" | "pdf" | "notebook";
  readonly lines: readonly string[];
  readonly encoding: string;
  readonly lineEnds: LineEnds;
  /** Sentences for the model about how the file is shown, each in brackets. */
  readonly notes: readonly string[];
  /** Top-level blocks, found once. */
  outline(): readonly Block[];
  readonly images: readonly NotebookImage[];
}

/** A file that is not shown as text. */
export type OtherDocument =
  | Extract<FileKind, { readonly kind: "image" | "binary" }>
  | { readonly kind: "unreadable"; readonly reason: string };
export type FileDocument = TextDocument | OtherDocument;

/** How a file is to be read. */
export interface DocumentForm {
  /** The encoding to decode it in, by a name of the Encoding Standard. */
  readonly encoding?: string | undefined;
  /** Show a notebook or a PDF as the text that it is. */
  readonly raw?: boolean | undefined;
  /** Pages of a PDF. */
  readonly pages?: { readonly first: number; readonly last?: number } | undefined;
}

/** Decides by the bytes how a file is shown, and makes lines of it if that is possible. */
export async function openDocument(
  path: string,
  content: Uint8Array,
  { encoding, raw = false, pages, signal }: DocumentForm & { readonly signal: AbortSignal },
): Promise<FileDocument> {
  const kind = encoding === undefined && !raw ? fileKindOf(content) : undefined;
  if (kind?.kind === "pdf") return openPdf(content, pages, signal);
  if (kind !== undefined) return kind;
  const decoded = decodeText(content, { encoding });
  if (decoded === undefined) return { kind: "binary", name: "binary" };
  if (!raw && extname(path).toLowerCase() === ".ipynb") {
    const notebook = await openNotebook(decoded);
    if (notebook !== undefined) return notebook;
  }
  return textDocument(path, decoded);
}

function textDocument(path: string, decoded: DecodedText): TextDocument {
  const { lines, lineEnds } = splitText(decoded.text);
  return document("text", lines, decoded.encoding, {
    lineEnds,
    notes: [...encodingNotes(decoded), ...lineEndNotes(lineEnds)],
    outline: () => outlinerOf(path)(lines),
  });
}

function document(
  form: TextDocument["form"],
  lines: readonly string[],
  encoding: string,
  parts: Partial<TextDocument> & Pick<TextDocument, "outline">,
): TextDocument {
  let blocks: readonly Block[] | undefined;
  const { outline } = parts;
  return { kind: "text", form, lines, encoding, lineEnds: "lf", notes: [], images: [], ...parts, outline: () => (blocks ??= outline()) };
}

function encodingNotes({ encoding, confidence, isDamaged }: DecodedText): readonly string[] {
  const name = encodingName(encoding);
  const shown = {
    certain: `[The file is not UTF-8; it is shown as ${name}.]`,
    likely: `[The file is not UTF-8; it is shown as ${name}, which its bytes fit best.]`,
    guess: `[The file is not UTF-8; it is shown as ${name}, a guess. If it looks wrong, set encoding, as in windows-1251, big5 or euc-kr.]`,
  };
  return [
    ...(encoding === "utf-8" ? [] : [shown[confidence]]),
    ...(isDamaged ? [`[Some bytes are not valid ${name}; \uFFFD is shown in their place.]`] : []),
  ];
}

function lineEndNotes(lineEnds: LineEnds): readonly string[] {
  if (lineEnds === "cr") return ["[The lines end with CR alone.]"];
  return lineEnds === "mixed" ? ["[Some lines end with CR LF, others with LF.]"] : [];
}

async function openNotebook(decoded: DecodedText): Promise<TextDocument | undefined> {
  const { notebookText } = await import("./notebook-text.ts");
  const notebook = notebookText(decoded.text);
  if (notebook === undefined) return undefined;
  const { lines, blocks, images } = notebook;
  const cells = `${blocks.length.toLocaleString("en-US")} cell${blocks.length === 1 ? "" : "s"}`;
  const note = `[A notebook of ${cells}, shown as text: the line numbers are not those of the file. Set raw to see its JSON, which edits need.]`;
  return document("notebook", lines, decoded.encoding, { notes: [note], images, outline: () => blocks });
}

async function openPdf(content: Uint8Array, pages: DocumentForm["pages"], signal: AbortSignal): Promise<FileDocument> {
  const { pdfText } = await import("./pdf-text.ts");
  const found = await pdfText(content, { ...pages, signal });
  if (found.kind === "locked")
    return {
      kind: "unreadable",
      reason: "is an encrypted PDF that needs a password. Decrypt it with a command first, as in: qpdf --password=… --decrypt",
    };
  if (found.kind !== "text") return { kind: "unreadable", reason: `is a PDF that cannot be read: ${found.message}` };
  const { count, last, lines, blocks, empty } = found;
  const first = pages?.first ?? 1;
  if (first > count) return { kind: "unreadable", reason: `is a PDF of ${count} pages; page ${first} is behind its end` };
  const read = last - first + 1;
  if (empty.length === read)
    return {
      kind: "unreadable",
      reason: `is a PDF of ${count} pages without text${read < count ? ` on pages ${first} to ${last}` : ""}: its pages are images, probably scans. Make images or text of them with a command, as in: pdftoppm -r 80 -png, or ocrmypdf`,
    };
  const notes = [
    `[A PDF of ${count} page${count === 1 ? "" : "s"}, shown as text without its layout and images.]`,
    ...(empty.length > 0
      ? [
          `[Without text, perhaps images: page${empty.length === 1 ? "" : "s"} ${empty.slice(0, 20).join(", ")}${empty.length > 20 ? " and more" : ""}.]`,
        ]
      : []),
    ...(last < count && pages?.last === undefined ? [`[Pages ${last + 1} to ${count} were not read: set pages to "${last + 1}-".]`] : []),
  ];
  return document("pdf", lines, "pdf", { notes, outline: () => blocks });
}
