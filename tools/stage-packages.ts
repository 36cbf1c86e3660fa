// Lays out what is published: dist/<package> holds the built files, the licence and a manifest without what only the workspace needs.
// The `source` condition is left out because the sources are: a bundler that knows that condition would look for files that are not there.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { entriesOf, publishedPackages, type PackageFolder } from "./package-entries.ts";
import { registryReadme } from "./registry-readme.ts";
import { root } from "./run-command.ts";
import { stageDeclarationMaps } from "./stage-declaration-maps.ts";

const repository = repositoryOf();
rmSync(join(root, "dist"), { recursive: true, force: true });
for (const published of publishedPackages()) {
  const from = join(root, published.folder);
  const to = join(root, "dist", basename(published.folder));
  const unbuilt = entriesOf(published).filter((entry) => !existsSync(join(from, "dist", `${entry.name}.js`)));
  if (unbuilt.length > 0) throw new Error(`${published.folder}: the build left out ${unbuilt.map((entry) => entry.name).join(", ")}`);

  mkdirSync(to, { recursive: true });
  cpSync(join(from, "dist"), join(to, "dist"), { recursive: true });
  stageDeclarationMaps(to, from);
  writeFileSync(join(to, "package.json"), `${JSON.stringify(publicManifest(published), undefined, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(to, "LICENSE"));
  for (const [file, fallback] of [
    ["README.md", join(root, "README.md")],
    ["CHANGELOG.md", undefined],
  ] as const) {
    const own = join(from, file);
    const found = existsSync(own) ? own : fallback;
    if (found !== undefined && existsSync(found))
      writeFileSync(join(to, file), registryReadme(readFileSync(found, "utf8"), repository?.url));
  }
}

/** Where the sources are, once they have a public address: `repository` of the workspace's own manifest. */
function repositoryOf(): { readonly type: string; readonly url: string } | undefined {
  const { repository: named } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    repository?: { type: string; url: string };
  };
  return named;
}

function publicManifest({ folder, manifest: whole }: PackageFolder): object {
  const { devDependencies: _devDependencies, scripts: _scripts, publishConfig, exports = {}, ...manifest } = whole;
  const { directory: _directory, ...publish } = (publishConfig ?? {}) as { directory?: string };
  return {
    ...manifest,
    ...(repository && { repository: { ...repository, directory: folder } }),
    exports: Object.fromEntries(
      Object.entries(exports).map(([subpath, target]) => {
        if (typeof target === "string") return [subpath, target];
        const { source: _source, ...conditions } = target;
        return [subpath, conditions];
      }),
    ),
    publishConfig: publish,
  };
}
