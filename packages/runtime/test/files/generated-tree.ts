import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Numbers that look random and are the same for the same seed. */
export function createDraw(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    // Marsaglia's xorshift.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

const NAMES = ["a", "b", "src", "lib", "test", "build", "a.b", ".hidden", "x y", "é", "UPPER", "node_modules", "[x]", "a-b"];
const EXTENSIONS = [".ts", ".js", ".py", ".md", ".json", ".txt", "", ".ts.bak", ".yaml", ".go"];
export const WORDS: readonly string[] = [
  "foo",
  "Foo",
  "FOO",
  "bar_1",
  "bar",
  "é",
  "É",
  "ß",
  "日本",
  "x.y",
  "a-b",
  "(z)",
  "12",
  "٣",
  "ſ",
  "\u212a",
  "k",
  "[q]",
  "foobar",
  "_",
];
const GAPS = [" ", "  ", "\t", "", ",", " "];

/** Paths and bytes of `count` files: text in several scripts, with some empty, binary or damaged. */
export function generateFiles(count: number, seed: number, lineEnds: readonly string[]): Map<string, Buffer> {
  const draw = createDraw(seed);
  const pick = <T>(values: readonly T[]): T => values[draw(values.length)] as T;
  const files = new Map<string, Buffer>();
  while (files.size < count) {
    const folders = Array.from({ length: draw(5) }, () => pick(NAMES));
    const path = [...folders, `${pick(NAMES)}${draw(40)}${pick(EXTENSIONS)}`].join("/");
    const lines = Array.from({ length: draw(12) }, () => Array.from({ length: draw(5) }, () => pick(WORDS) + pick(GAPS)).join(""));
    const end = pick(lineEnds);
    let bytes = Buffer.from(lines.join(end) + (draw(3) === 0 ? "" : end));
    if (draw(15) === 0) bytes = Buffer.concat([Buffer.of(0), bytes]);
    if (draw(12) === 0) bytes = Buffer.concat([Buffer.from("foo "), Buffer.of(0xe9, 0xff), Buffer.from(" bar\n"), bytes]);
    files.set(path, bytes);
  }
  return files;
}

/** Puts files into a new folder, which goes with the test. */
export function placeFiles(files: ReadonlyMap<string, Buffer>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-tree-")));
  // Tens of thousands of files take long to remove on a busy machine.
  onTestFinished(() => rmSync(root, { recursive: true, force: true }), 300_000);
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}
