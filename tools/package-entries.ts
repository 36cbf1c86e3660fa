import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";

type Conditions = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | Conditions>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly [key: string]: unknown;
}

export interface PackageFolder {
  /** Relative to the workspace, as in "packages/runtime". */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The packages of the workspace that are published. */
export function publishedPackages(): readonly PackageFolder[] {
  return readdirSync(join(root, "packages"))
    .sort()
    .map((name) => ({ folder: join("packages", name), manifest: readManifest(join("packages", name)) }))
    .filter(({ manifest }) => manifest.private !== true);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}

export interface Entry {
  /** Name under `dist` without its ending, as in "providers/anthropic". */
  readonly name: string;
  /** Relative to the package, as in "src/providers/anthropic.ts". */
  readonly source: string;
  /** What outsiders import it as; `undefined` for a command. */
  readonly specifier: string | undefined;
}

/**
 * What a package offers, read from its manifest: that is the one list, from which the build, the checks and the tests follow.
 * It throws when an entry breaks the pattern or its source is missing, so that nothing is left out silently.
 */
export function entriesOf({ folder, manifest }: PackageFolder): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (subpath === "./package.json") continue;
    const specifier = manifest.name + subpath.slice(1);
    if (typeof target === "string") throw new Error(`${specifier}: give its export the conditions source, types and default`);
    const name = /^\.\/src\/(.+)\.ts$/.exec(target["source"] ?? "")?.[1];
    if (name === undefined || target["types"] !== `./dist/${name}.d.ts` || target["default"] !== `./dist/${name}.js`) {
      throw new Error(`${specifier}: its source ./src/X.ts, types ./dist/X.d.ts and default ./dist/X.js must name the same X`);
    }
    entries.push({ name, source: `src/${name}.ts`, specifier });
  }
  for (const [command, target] of Object.entries(manifest.bin ?? {})) {
    const name = /^(?:\.\/)?dist\/(.+)\.js$/.exec(target)?.[1];
    if (name === undefined) throw new Error(`${manifest.name}: the command ${command} must be ./dist/X.js`);
    entries.push({ name, source: `src/${name}.ts`, specifier: undefined });
  }
  if (entries.length === 0) throw new Error(`${manifest.name} exports nothing and has no command`);
  const missing = entries.filter((entry) => !existsSync(join(root, folder, entry.source)));
  if (missing.length > 0) {
    throw new Error(`${folder}/package.json promises sources that do not exist: ${missing.map((entry) => entry.source).join(", ")}`);
  }
  return entries;
}
