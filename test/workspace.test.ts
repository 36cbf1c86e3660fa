import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(join(root, path), "utf8")) as T;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly publishConfig?: { readonly directory?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly resolved?: string;
        readonly link?: boolean;
        readonly integrity?: string;
        readonly bundled?: boolean;
        readonly inBundle?: boolean;
      }
    >
  >;
}

const folders = await readdir(join(root, "packages"));
const manifests = await Promise.all(folders.map((folder) => readJson<Manifest>(`packages/${folder}/package.json`)));
const published = manifests.filter((manifest) => manifest.private !== true);

describe("the workspace", () => {
  it("gives all its packages one version, in which they depend on each other", () => {
    const [first] = manifests;
    for (const manifest of manifests) {
      expect(manifest.version, manifest.name).toBe(first?.version);
      for (const { name, version } of manifests)
        expect([undefined, version], `${manifest.name} on ${name}`).toContain(manifest.dependencies?.[name]);
    }
  });

  it("releases all published packages together, each from where it is staged", async () => {
    const { fixed } = await readJson<{ fixed: readonly string[][] }>(".changeset/config.json");
    expect(fixed.map((group) => [...group].sort())).toEqual([published.map(({ name }) => name).sort()]);
    for (const [index, folder] of folders.entries()) {
      const manifest = manifests[index];
      if (manifest?.private !== true) expect(manifest?.publishConfig?.directory).toBe(`../../dist/${folder}`);
    }
  });

  it("pins every dependency to one version", async () => {
    for (const manifest of [await readJson<Manifest>("package.json"), ...manifests]) {
      for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
        expect(range, `${manifest.name} on ${name}`).toMatch(/^(npm:@?[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/);
      }
    }
  });

  it("has a lock file with a digest for every package and the address of none", async () => {
    const { packages } = await readJson<LockFile>("package-lock.json");
    const entries = Object.entries(packages).filter(([path]) => path.startsWith("node_modules/") || path.includes("/node_modules/"));
    expect(entries.length).toBeGreaterThan(100);
    for (const [path, { resolved, link, integrity, inBundle }] of entries) {
      if (link === true) expect(resolved, path).toMatch(/^packages\//);
      else
        expect({ path, resolved, hasDigest: integrity !== undefined || inBundle === true }).toEqual({
          path,
          resolved: undefined,
          hasDigest: true,
        });
    }
  });
});
