import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";

/** Modules of Node that load and run nothing else. */
const PLAIN_MODULES: ReadonlySet<string> = new Set(
  (
    "assert assert/strict async_hooks buffer console constants crypto diagnostics_channel dns dns/promises events fs fs/promises http http2 https net os path " +
    "path/posix path/win32 perf_hooks process punycode querystring readline readline/promises stream stream/consumers stream/promises stream/web " +
    "string_decoder timers timers/promises tls tty url util util/types zlib"
  ).split(" "),
);
/** Spellings of a module without its ending, and of a folder, as `require` tries them. */
const ENDINGS: readonly string[] = [
  "",
  ".js",
  ".json",
  ".node",
  ".mjs",
  ".cjs",
  "/package.json",
  "/index.js",
  "/index.json",
  "/index.node",
];
const MAX_MODULES = 500;

const SPECIFIER = String.raw`\s*(?<quote>["'])(?<name>[^"'\n\\]*)\k<quote>\s*`;
const STATIC = new RegExp(String.raw`(?<![.\w$])(?:import|export)\b[^;"'()]*?(?:\bfrom\b|(?<=\bimport))${SPECIFIER}`, "g");
const CALLED = new RegExp(String.raw`(?<![.\w$])(?:import|require)\s*\(${SPECIFIER}\)`, "g");
/** Each use of these that is none of the above loads what is not known. */
const LOADS = /(?<![.\w$])(?:import\s*\(|require\b)/g;
const RUNS_TEXT =
  /\beval\b|\bFunction\s*\(|\bgetBuiltinModule\b|\bdlopen\b|\bcreateRequire\b|\bmodule\s*\.\s*(?!exports\b)|process\s*\.\s*binding\b|\bexecve\b|\.\s*require\b|\bWebAssembly\b/;

/** Adds a script that Node runs, what it imports in turn, and files that its texts name. Not understood: packages, and code that is computed. */
export function coverJavascript(entry: string, cwd: string, files: CoveredFiles): void {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const real = files.addRun(path);
    if (real === undefined || seen.has(real)) return;
    seen.add(real);
    if (seen.size > MAX_MODULES) return files.notUnderstood(`${path} imports more than ${MAX_MODULES} files`);
    files.addUpwards(dirname(real), "package.json");
    if (path.endsWith("/package.json") && /"(?:main|exports)"/.test(readFileSync(real, "utf8")))
      files.notUnderstood(`${path}, which says what its folder is imported as`);
    if (real.endsWith(".json")) return;
    if (!/\.(?:[cm]?js|[cm]?ts)$|\/[^./]+$/.test(real)) return files.notUnderstood(`${path}, which is no JavaScript`);
    const text = readFileSync(real, "utf8");
    const folder = dirname(real);
    if (RUNS_TEXT.test(text)) files.notUnderstood(`${path}, which runs code that it computes`);
    const found = [...text.matchAll(STATIC), ...text.matchAll(CALLED)].map(({ groups }) => groups?.["name"] ?? "");
    if ([...text.matchAll(LOADS)].length > [...text.matchAll(CALLED)].length)
      files.notUnderstood(`${path}, which computes what it imports`);
    for (const name of found) {
      if (PLAIN_MODULES.has(name.replace(/^node:/, ""))) continue;
      if (!/^\.{1,2}(?:\/|$)/.test(name)) files.notUnderstood(`${path}, which imports ${JSON.stringify(name)}`);
      else for (const ending of ENDINGS) visit(resolve(folder, `${name.replace(/[?#].*$/, "")}${ending}`));
    }
    files.addTexts(text, [folder, cwd]);
  };
  for (const ending of files.add(entry) === undefined ? ENDINGS : [""]) visit(`${entry}${ending}`);
}
