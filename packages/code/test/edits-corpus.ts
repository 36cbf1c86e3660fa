import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@keelson/protocol";
import { encodeText } from "../src/reading/encode-text.ts";
import type { TextEncoding } from "../src/reading/text-encoding.ts";
import { createToolWorkspace, type ToolWorkspace } from "./tool-workspace.ts";

const FOLDER = join(import.meta.dirname, "edits-corpus");

/** The content of a file: a text, bytes, or no file. */
type Content = string | { readonly base64: string } | null;

/** An edit or a patch as models write them, and its result. */
export interface CorpusCase {
  readonly kind: string;
  readonly name: string;
  /** The encoding of all files. Default UTF-8. UTF-16 has a byte order mark. */
  readonly encoding?: TextEncoding | "utf-8-mark";
  readonly files: { readonly [path: string]: Content };
  readonly call: { readonly tool: string; readonly input: JsonValue };
  /** The files after the call, if it can be made safely. Others stay as they are. */
  readonly after?: { readonly [path: string]: Content };
  /**
   * The reason why it cannot: the old text is at several places, or at none, or the change would not be safe.
   */
  readonly refused?: "ambiguous" | "absent" | "unsafe";
}

/** `right`: the files are as expected; `refused`: nothing was changed; `damaged`: the files are neither. */
export interface CorpusResult {
  readonly corpusCase: CorpusCase;
  readonly verdict: "right" | "refused" | "damaged";
  readonly said: string;
}

export function readCorpus(): readonly CorpusCase[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .flatMap((name) => {
      const cases = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as readonly Omit<CorpusCase, "kind">[];
      return cases.map((each) => ({ ...each, kind: name.slice(0, -".json".length) }));
    });
}

/** Makes the call of a case on real files. */
export async function runCorpusCase(corpusCase: CorpusCase): Promise<CorpusResult> {
  using workspace = createToolWorkspace({ ripgrep: false });
  const before = bytesOf(corpusCase, corpusCase.files);
  for (const [path, content] of before) if (content !== undefined) workspace.put(path, content);
  const said = await workspace.say(corpusCase.call.tool, corpusCase.call.input);
  const wanted = new Map([...before, ...bytesOf(corpusCase, corpusCase.after ?? {})]);
  const now = filesOf(workspace);
  const isAs = (files: ReadonlyMap<string, Buffer | undefined>): boolean => {
    const there = [...files].filter(([, content]) => content !== undefined);
    return there.length === now.size && there.every(([path, content]) => now.get(path)?.equals(content as Buffer) === true);
  };
  const isError = said.startsWith("ERROR ");
  const verdict = isError ? (isAs(before) ? "refused" : "damaged") : corpusCase.after !== undefined && isAs(wanted) ? "right" : "damaged";
  return { corpusCase, verdict, said };
}

function bytesOf({ encoding = "utf-8" }: CorpusCase, files: { readonly [path: string]: Content }): Map<string, Buffer | undefined> {
  return new Map(
    Object.entries(files).map(([path, content]) => {
      if (content === null) return [path, undefined];
      if (typeof content !== "string") return [path, Buffer.from(content.base64, "base64")];
      const name = encoding === "utf-8-mark" ? "utf-8" : encoding;
      const bytes = encodeText(content, name, { hasMark: encoding === "utf-8-mark" || name.startsWith("utf-16") });
      return [path, Buffer.from(bytes as Uint8Array)];
    }),
  );
}

function filesOf({ root }: ToolWorkspace): ReadonlyMap<string, Buffer> {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(root, path)).isFile());
  return new Map(paths.map((path) => [path, readFileSync(join(root, path))]));
}
