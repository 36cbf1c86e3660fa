import { createBlock, type Block } from "./outline/block.ts";

/** A Jupyter notebook as text. */
export interface NotebookText {
  readonly lines: readonly string[];
  /** One block for each cell. */
  readonly blocks: readonly Block[];
  /** Images that outputs hold, in their order. */
  readonly images: readonly NotebookImage[];
}

export interface NotebookImage {
  /** The line of its output in the text. */
  readonly line: number;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** Longer outputs lose their middle. */
const MAX_OUTPUT_LINES = 20;
const MAX_OUTPUT_CHARACTERS = 2000;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly execution_count?: unknown;
  readonly outputs?: unknown;
  /** Of the third version of the format. */
  readonly input?: unknown;
}

/** Shows a notebook cell by cell, with its outputs shortened. `undefined` if the text is no notebook. */
export function notebookText(text: string): NotebookText | undefined {
  const cells = cellsOf(text);
  if (cells === undefined) return undefined;
  const lines: string[] = [];
  const blocks: Block[] = [];
  const images: NotebookImage[] = [];
  cells.forEach((cell, index) => {
    const start = lines.length + 1;
    const kind = typeof cell.cell_type === "string" ? cell.cell_type : "unknown";
    const source = linesOf(cell.source ?? cell.input);
    const count = typeof cell.execution_count === "number" ? `, run ${cell.execution_count}` : "";
    lines.push(`[Cell ${index + 1}: ${kind}${count}]`, ...source);
    const outputs = Array.isArray(cell.outputs) ? (cell.outputs as readonly unknown[]) : [];
    for (const output of outputs) addOutput(output, lines, images);
    blocks.push(createBlock(start, lines.length, `cell ${index + 1}, ${kind}: ${source.find((line) => line.trim() !== "") ?? "empty"}`));
  });
  return { lines, blocks, images };
}

function cellsOf(text: string): readonly Cell[] | undefined {
  let notebook: unknown;
  try {
    notebook = JSON.parse(text);
  } catch {
    return undefined; // damaged: it is shown as the text that it is
  }
  if (!isObject(notebook)) return undefined;
  const worksheet = Array.isArray(notebook["worksheets"]) ? (notebook["worksheets"][0] as unknown) : undefined;
  const cells = notebook["cells"] ?? (isObject(worksheet) ? worksheet["cells"] : undefined);
  return Array.isArray(cells) && cells.every(isObject) ? (cells as readonly Cell[]) : undefined;
}

function addOutput(output: unknown, lines: string[], images: NotebookImage[]): void {
  if (!isObject(output)) return;
  if (output["output_type"] === "error" || output["output_type"] === "pyerr") {
    const trace = Array.isArray(output["traceback"]) ? output["traceback"] : [];
    const shown = trace.length > 0 ? trace.flatMap(linesOf) : [`${String(output["ename"])}: ${String(output["evalue"])}`];
    addLines("error", shown, lines);
    return;
  }
  // Streams have a text of their own; results have one for each media type.
  const data = isObject(output["data"]) ? output["data"] : output;
  const image = IMAGE_TYPES.find((type) => data[type] !== undefined);
  const text = output["text"] ?? data["text/plain"] ?? data["text/markdown"] ?? data["text/html"];
  if (text !== undefined) addLines(output["name"] === "stderr" ? "standard error" : "output", linesOf(text), lines);
  if (image !== undefined) {
    lines.push(`[Image: ${image}]`);
    images.push({ line: lines.length, mediaType: image, data: linesOf(data[image]).join("").replace(/\s+/g, "") });
  }
  const others = Object.keys(data).filter((type) => type.includes("/") && type !== image && !type.startsWith("text/"));
  if (text === undefined && image === undefined && others.length > 0) lines.push(`[Output that is not shown: ${others.join(", ")}]`);
}

function addLines(name: string, shown: readonly string[], lines: string[]): void {
  lines.push(`[${name[0]?.toUpperCase()}${name.slice(1)}:]`, ...shorten(shown.map(withoutColours)));
}

function shorten(lines: readonly string[]): readonly string[] {
  const cut = lines.map((line) => (line.length > MAX_OUTPUT_CHARACTERS ? `${line.slice(0, MAX_OUTPUT_CHARACTERS).toWellFormed()}…` : line));
  if (cut.length <= MAX_OUTPUT_LINES) return cut;
  const half = MAX_OUTPUT_LINES / 2;
  return [...cut.slice(0, half), `[… ${cut.length - MAX_OUTPUT_LINES} lines of output are left out …]`, ...cut.slice(-half)];
}

function withoutColours(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replace(/\u001b\[[0-9;]*m/g, "");
}

/** Notebooks hold texts as one string or as a list of lines. */
function linesOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.map(String).join("") : typeof value === "string" ? value : "";
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
