import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** What this build plug-in needs of a bundler's plug-in interface. */
interface BundlePlugin {
  readonly name: string;
  generateBundle(
    this: { emitFile(file: { readonly type: "asset"; readonly fileName: string; readonly source: string }): string },
    options: unknown,
    bundle: Readonly<Record<string, { readonly type: string; readonly moduleIds?: readonly string[] }>>,
  ): void;
}

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
  return `${manifest.name} ${manifest.version} (${manifest.license ?? "licence as follows"})\n\n${readFileSync(file, "utf8").trim()}\n`;
}
