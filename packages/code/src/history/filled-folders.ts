/** Folders that package managers fill. Their content comes from elsewhere and can be fetched again. */
const DEPENDENCY_FOLDERS: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", "jspm_packages", ".venv", "venv", "virtualenv", "site-packages", "__pypackages__"],
  ...[".tox", ".nox", ".gradle", ".m2", ".ivy2", ".cargo", ".rustup", "vendor", "Pods", "Carthage", ".bundle", ".pub-cache", "deps"],
  ...[".yarn", ".pnpm-store", ".npm", "elm-stuff", ".stack-work", ".cabal-sandbox", ".terraform", "jars", ".eggs", ".conda"],
]);

/** Folders that build programs and caches fill. Their content is made again by the same programs. */
const BUILD_FOLDERS: ReadonlySet<string> = new Set([
  ...["build", "dist", "out", "target", "bin", "obj", "_build", "cmake-build-debug", "cmake-build-release", "DerivedData", ".build"],
  ...["__pycache__", ".cache", ".parcel-cache", ".next", ".nuxt", ".output", ".svelte-kit", ".angular", ".turbo", ".vite", ".astro"],
  ...[".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "htmlcov", "coverage", ".nyc_output", ".sass-cache", ".dart_tool"],
  ...[
    "storybook-static",
    "_site",
    ".docusaurus",
    ".serverless",
    ".webpack",
    ".eslintcache",
    "zig-cache",
    "zig-out",
    ".zig-cache",
    "bazel-out",
  ],
]);

/** Names that no project gives to folders of its own. They count as ignored in a folder that has no repository. */
const NEVER_SOURCES: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", ".venv", "venv", "__pycache__", ".tox", ".nox", ".gradle", ".m2", ".yarn", ".pnpm-store", "Pods"],
  ...[".cache", ".parcel-cache", ".next", ".nuxt", ".svelte-kit", ".turbo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".nyc_output"],
]);

/** Returns the reason why an ignored folder of this name is not covered; `undefined` if it is. */
export function filledFolder(name: string): "dependencies" | "build" | undefined {
  return DEPENDENCY_FOLDERS.has(name) ? "dependencies" : BUILD_FOLDERS.has(name) ? "build" : undefined;
}

/** True if a folder of this name counts as ignored where no repository has rules. */
export function isNeverSource(name: string): boolean {
  return NEVER_SOURCES.has(name);
}
