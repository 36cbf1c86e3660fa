import { join } from "node:path";
import { defineConfig } from "tsdown";
import { nodeGuard } from "./tools/node-guard.ts";
import { entriesOf, publishedPackages } from "./tools/package-entries.ts";
import { startChunks } from "./tools/start-chunks.ts";
import { thirdPartyLicenses } from "./tools/third-party-licenses.ts";

/** Bundled into chunks of their own that load on first use, so that `keelson` installs three packages and imports none of these. */
const bundled = [
  "ajv",
  "fast-deep-equal",
  "fast-uri",
  "json-schema-traverse",
  "require-from-string",
  "jsonrepair",
  "croner",
  "highlight.js",
];

/** Entries of `keelson` that load nearly all of its main entry. */
const loadingTheLoop = ["agent/index.ts", "testing/index.ts", "testing/contracts.ts", "testing/engines.ts"];

/** Programs of worker threads, which are loaded by their path: each is a file beside the chunk of its caller. */
const threads: { readonly [manifest: string]: { readonly [name: string]: string } } = {
  "@keelson/code": { "chunks/pdf-worker": "src/reading/pdf-worker.ts" },
};

export default defineConfig(
  publishedPackages().map((published) => {
    const { folder, manifest } = published;
    // The protocol runs everywhere; commands check the version before they import anything.
    const guarded = entriesOf(published).filter(({ specifier }) => specifier !== undefined && specifier !== "@keelson/protocol");
    const guardedFiles = new Set(guarded.map(({ name }) => `${name}.js`));
    return {
      name: manifest.name,
      cwd: folder,
      entry: { ...Object.fromEntries(entriesOf(published).map((entry) => [entry.name, entry.source])), ...threads[manifest.name] },
      outDir: "dist",
      format: "esm" as const,
      platform: "node" as const,
      target: "node22.19",
      banner: ({ fileName }: { readonly fileName: string }) => (guardedFiles.has(fileName) ? nodeGuard(manifest.engines.node) : undefined),
      fixedExtension: false,
      sourcemap: false,
      tsconfig: join(folder, "tsconfig.json"),
      dts: { sourcemap: true },
      deps: { neverBundle: Object.keys(manifest.dependencies ?? {}), onlyBundle: bundled },
      // Documentation stands in the types; in the code it would be a fifth of what every import reads.
      outputOptions: {
        chunkFileNames: "chunks/[name]-[hash].js",
        comments: { jsdoc: false },
        codeSplitting: startChunks(join(import.meta.dirname, folder, "src"), "index.ts", loadingTheLoop),
      },
      plugins: [thirdPartyLicenses()],
      // How long plug-ins took is a warning by default, which would fail a build on a busy machine.
      checks: { pluginTimings: false },
      failOnWarn: true,
      logLevel: "warn" as const,
    };
  }),
);
