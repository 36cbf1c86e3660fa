import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What this build plug-in needs of a bundler's plug-in interface. */
interface BundlePlugin {
  readonly name: string;
  generateBundle(
    this: { emitFile(file: { readonly type: "asset"; readonly fileName: string; readonly source: string }): string },
    options: unknown,
    bundle: Readonly<Record<string, { readonly type: string; readonly moduleIds?: readonly string[] }>>,
  ): void;
}

/** Packages of which only data goes along with the code of another: the grammar that the parser of command lines reads. */
const COMPANIONS: { readonly [name: string]: readonly string[] } = {
  "web-tree-sitter": ["@vscode/tree-sitter-wasm"],
};

/** Writes THIRD-PARTY-LICENSES.txt with the notice of each package whose code went into the bundle; a bundled package without one fails the build. */
export function thirdPartyLicenses(): BundlePlugin {
  return {
    name: "third-party-licenses",
    generateBundle(_options, bundle) {
      const folders = new Set(
        Object.values(bundle)
          .flatMap((output) => output.moduleIds ?? [])
          .map(packageFolder)
          .filter((folder) => folder !== undefined),
      );
      if (folders.size === 0) return;
      for (const folder of [...folders]) for (const name of COMPANIONS[basename(folder)] ?? []) folders.add(join(dirname(folder), name));
      const notices = [...folders].sort().map(notice);
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source: `${notices.join(`\n${"-".repeat(80)}\n\n`)}` });
    },
  };
}

function packageFolder(moduleId: string): string | undefined {
  const path = moduleId.replace(/^\0/, "").replace(/\?.*$/, "");
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

function notice(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string; version: string; license?: string };
  const own = readdirSync(folder).find((name) => /^(licen[cs]e|copying|notice)(\.|$)/i.test(name));
  // Some packages name their licence and ship no text of it: what their manifest and readme say stands here, added by hand.
  const file = own === undefined ? join(import.meta.dirname, "notices", `${manifest.name}.txt`) : join(folder, own);
  if (!existsSync(file)) {
    throw new Error(
      `${manifest.name} is bundled but ships no licence text in ${dirname(folder)}: keep it external or add its notice by hand in tools/notices`,
    );
  }
  // What was built into the package from elsewhere has a notice of its own.
  const within = join(import.meta.dirname, "notices", `within-${basename(folder)}.txt`);
  const texts = [file, ...(existsSync(within) ? [within] : [])].map((path) => readFileSync(path, "utf8").trim());
  return `${manifest.name} ${manifest.version} (${manifest.license ?? "licence as follows"})\n\n${texts.join("\n\n")}\n`;
}
