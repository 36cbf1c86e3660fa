import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { root } from "./run-command.ts";

/** What this build plug-in needs of a bundler's plug-in interface. */
interface BundlePlugin {
  readonly name: string;
  generateBundle(
    this: { emitFile(file: { readonly type: "asset"; readonly fileName: string; readonly source: Uint8Array }): string },
    options: unknown,
    bundle: Readonly<Record<string, { readonly type: string; readonly moduleIds?: readonly string[] }>>,
  ): void;
}

/** The parser of command lines and its grammar of bash, as `environment/command-line/parse-bash.ts` asks for them. */
const FILES: readonly string[] = ["web-tree-sitter/web-tree-sitter.wasm", "@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm"];

/** Puts WebAssembly beside the code that loads it, compressed: the tables of a grammar shrink to a tenth. */
export function bundledWasm(): BundlePlugin {
  const { resolve } = createRequire(join(root, "packages", "runtime", "package.json"));
  return {
    name: "bundled-wasm",
    generateBundle(_options, bundle) {
      const isNeeded = Object.values(bundle).some(({ moduleIds = [] }) =>
        moduleIds.some((id) => id.includes("/node_modules/web-tree-sitter/")),
      );
      if (!isNeeded) return;
      for (const file of FILES) {
        const source = brotliCompressSync(readFileSync(resolve(file)), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
        this.emitFile({ type: "asset", fileName: `wasm/${basename(file)}.br`, source });
      }
    },
  };
}
