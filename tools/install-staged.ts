import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { publishedPackages } from "./package-entries.ts";
import { root, runCommand } from "./run-command.ts";

export interface Installation extends AsyncDisposable {
  readonly folder: string;
}

export interface InstallOptions {
  /** Only these packages of ours can be imported by the project; each finds its own dependencies beside itself, as pnpm lays them out. */
  readonly isolated?: readonly string[];
}

/**
 * A project outside of the workspace with the packages as users get them: packed from dist/ and unpacked into node_modules.
 * Their dependencies, and `libraries`, are those installed in the workspace.
 */
export async function installStaged(libraries: readonly string[] = [], { isolated }: InstallOptions = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-installed-"));
  const modules = join(folder, "node_modules");
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));

  /** Where a package, or what it depends on, stands in an isolated layout. */
  const inStore = (owner: string, name: string): string => join(modules, ".store", owner.replace("/", "+"), "node_modules", name);
  const published = publishedPackages();
  const links = new Map(libraries.map((name) => [name, join(root, "node_modules", name)]));
  for (const { folder: source, manifest } of published) {
    const staged = join(root, "dist", basename(source));
    if (!existsSync(join(staged, "package.json"))) throw new Error(`dist/${basename(source)} does not exist: run \`npm run build\` first`);
    const packed = await mkdtemp(join(folder, "pack-"));
    await must("npm", ["pack", staged, "--pack-destination", packed]);
    const [tarball = ""] = await readdir(packed);
    const target = isolated === undefined ? join(modules, manifest.name) : inStore(manifest.name, manifest.name);
    await mkdir(target, { recursive: true });
    await must("tar", ["-xzf", join(packed, tarball), "-C", target, "--strip-components=1"]);

    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (published.some((other) => other.manifest.name === name)) {
        if (isolated !== undefined) await link(inStore(name, name), inStore(manifest.name, name));
        continue;
      }
      const own = join(root, source, "node_modules", name);
      links.set(name, existsSync(own) ? own : join(root, "node_modules", name));
    }
  }
  for (const [name, path] of links) await link(path, join(modules, name));
  for (const name of isolated ?? []) await link(inStore(name, name), join(modules, name));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
}

async function must(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
}
