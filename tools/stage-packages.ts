// Lays out what is published: dist/<package> holds the built files, the licence and a manifest without what only the workspace needs.
// The `source` condition is left out because the sources are: a bundler that knows that condition would look for files that are not there.
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { entriesOf, publishedPackages, type Manifest } from "./package-entries.ts";
import { root } from "./run-command.ts";

rmSync(join(root, "dist"), { recursive: true, force: true });
for (const published of publishedPackages()) {
  const from = join(root, published.folder);
  const to = join(root, "dist", basename(published.folder));
  const unbuilt = entriesOf(published).filter((entry) => !existsSync(join(from, "dist", `${entry.name}.js`)));
  if (unbuilt.length > 0) throw new Error(`${published.folder}: the build left out ${unbuilt.map((entry) => entry.name).join(", ")}`);

  mkdirSync(to, { recursive: true });
  cpSync(join(from, "dist"), join(to, "dist"), { recursive: true });
  writeFileSync(join(to, "package.json"), `${JSON.stringify(publicManifest(published.manifest), undefined, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(to, "LICENSE"));
  for (const [file, fallback] of [
    ["README.md", join(root, "README.md")],
    ["CHANGELOG.md", undefined],
  ] as const) {
    const own = join(from, file);
    if (existsSync(own)) copyFileSync(own, join(to, file));
    else if (fallback !== undefined && existsSync(fallback)) copyFileSync(fallback, join(to, file));
  }
}

function publicManifest({
  devDependencies: _devDependencies,
  scripts: _scripts,
  publishConfig,
  exports = {},
  ...manifest
}: Manifest): object {
  const { directory: _directory, ...publish } = (publishConfig ?? {}) as { directory?: string };
  return {
    ...manifest,
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
