import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import type { Language, Parser, Tree } from "web-tree-sitter";

/** A node of a syntax tree, as a plain value: the parser's own memory is given back before anybody looks at it. */
export interface SyntaxNode {
  /** As tree-sitter's grammar of bash calls it; `ERROR` and `MISSING` where the text is not bash. */
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly named: boolean;
  readonly children: readonly SyntaxNode[];
}

/** The tree of a text, or `undefined` where reading it would take too long. */
export type BashParser = (text: string) => SyntaxNode | undefined;

/** Longer lines aren't parsed. What people and models write by hand is shorter; what is longer carries a file in it. */
export const MAX_PARSED_CHARACTERS: number = 64 * 1024;
// The parser reports after every hundred operations. A count, where a clock would judge the same line differently on a replay.
const MAX_PROGRESS_REPORTS = 250;
// Of these the parser takes time that grows with the square of their number.
const SLOW_CONSTRUCTS = /=\(|\([ \t]*\)/g;
const MAX_SLOW_CONSTRUCTS = 200;
// So do expansions in here-documents that aren't quoted.
const OPEN_DOCUMENT = /<<-?[ \t]*\w/;
const MAX_EXPANSIONS_WITH_DOCUMENT = 200;

let loading: Promise<BashParser> | undefined;

/** Loads the parser on the first call: its grammar is half a megabyte of tables that nobody needs who runs no commands. */
export function loadBashParser(): Promise<BashParser> {
  loading ??= createBashParser();
  return loading;
}

async function createBashParser(): Promise<BashParser> {
  const treeSitter = await import("web-tree-sitter");
  await treeSitter.Parser.init({ wasmBinary: readWasm("web-tree-sitter/web-tree-sitter.wasm") });
  const language: Language = await treeSitter.Language.load(readWasm("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm"));
  let broken = false;
  return (text) => {
    if (broken || text.length > MAX_PARSED_CHARACTERS || isSlow(text)) return undefined;
    const parser: Parser = new treeSitter.Parser();
    let tree: Tree | null = null;
    try {
      parser.setLanguage(language);
      let reports = 0;
      tree = parser.parse(text, null, { progressCallback: () => ++reports > MAX_PROGRESS_REPORTS });
      return tree === null ? undefined : copyTree(tree);
    } catch (error) {
      // A WebAssembly module that ran out of memory can't be used again; whoever asks is told that lines can't be read.
      if (!(error instanceof Error && error.name === "RuntimeError")) throw error;
      broken = true;
      return undefined;
    } finally {
      if (!broken) {
        tree?.delete();
        parser.delete();
      }
    }
  };
}

function isSlow(text: string): boolean {
  if (countOf(SLOW_CONSTRUCTS, text) > MAX_SLOW_CONSTRUCTS) return true;
  return OPEN_DOCUMENT.test(text) && countOf(/[$`]/g, text) > MAX_EXPANSIONS_WITH_DOCUMENT;
}

function countOf(pattern: RegExp, text: string): number {
  return text.match(pattern)?.length ?? 0;
}

/** In the built package the files lie compressed beside the code; in the workspace they are where npm put them. */
function readWasm(specifier: string): Uint8Array<ArrayBuffer> {
  const name = specifier.slice(specifier.lastIndexOf("/") + 1);
  const built = fileURLToPath(new URL(`../wasm/${name}.br`, import.meta.url));
  if (existsSync(built)) return new Uint8Array(brotliDecompressSync(readFileSync(built)));
  return new Uint8Array(readFileSync(createRequire(import.meta.url).resolve(specifier)));
}

interface OpenNode extends SyntaxNode {
  readonly children: OpenNode[];
}

function copyTree(tree: Tree): SyntaxNode {
  const cursor = tree.walk();
  const copy = (): OpenNode => ({
    type: cursor.nodeIsMissing ? "MISSING" : cursor.nodeType,
    start: cursor.startIndex,
    end: cursor.endIndex,
    named: cursor.nodeIsNamed,
    children: [],
  });
  try {
    const root = copy();
    const above: OpenNode[] = [];
    let current = root;
    for (;;) {
      if (cursor.gotoFirstChild()) above.push(current);
      else {
        while (!cursor.gotoNextSibling()) {
          if (above.pop() === undefined || !cursor.gotoParent()) return root;
        }
      }
      current = copy();
      above.at(-1)?.children.push(current);
    }
  } finally {
    cursor.delete();
  }
}
