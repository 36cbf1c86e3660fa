// Limits on what `import` loads at once, brotli-compressed. What an install weighs on disk stands in tools/weight.ts.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const workspace = import.meta.dirname;

/** The file and all that it loads at once; a dynamic import is not followed. */
function loadedBy(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, specifier] of readFileSync(file, "utf8").matchAll(/^\s*(?:import|export)\b[^"'();]*?["'](\.[^"']+)["']/gm)) {
    loadedBy(join(dirname(file), specifier), seen);
  }
  return seen;
}
const startOf = (file) => [...loadedBy(join(workspace, file))].map((path) => relative(workspace, path));

export default [
  { name: "@keelson/protocol, loaded", path: startOf("packages/protocol/dist/index.js"), limit: "20 kB" },
  { name: "keelson, loaded", path: startOf("packages/runtime/dist/index.js"), limit: "230 kB" },
];
