// Lays out what is published: dist/<package> holds the built files, the documents, the licence and a manifest without what only the workspace needs.
// The `source` condition is left out because the sources are: a bundler that knows that condition would look for files that are not there.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { entriesOf, publishedPackages, type PackageFolder } from "./package-entries.ts";
import { packageOfGuide } from "./package-of-guide.ts";
import { root } from "./run-command.ts";
import { stageDeclarationMaps } from "./stage-declaration-maps.ts";
import { stagedLinks } from "./staged-links.ts";

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
  const documents = [join(published.folder, "README.md"), join(published.folder, "CHANGELOG.md"), ...guidesOf(published)];
  const stagedPath = (path: string): string | undefined => {
    const inPackage = path.startsWith(`${published.folder}/`) ? path.slice(published.folder.length + 1) : path;
    const isStaged = documents.includes(path) || (inPackage !== path && existsSync(join(to, inPackage)));
    return isStaged ? inPackage : undefined;
  };
  for (const document of documents.filter((path) => existsSync(join(root, path)))) {
    const target = join(to, stagedPath(document) as string);
    mkdirSync(dirname(target), { recursive: true });
    const text = readFileSync(join(root, document), "utf8");
    writeFileSync(target, stagedLinks(text, { document, stagedPath, repositoryUrl: repository?.url }));
  }
}

/** Returns the paths of the documents that travel inside a package, where programs and people that use it find them. */
function guidesOf({ manifest }: PackageFolder): readonly string[] {
  const documents = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
  return documents.map((path) => `docs/${path}`).filter((path) => packageOfGuide(path) === manifest.name);
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
