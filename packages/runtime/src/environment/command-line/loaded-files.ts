/** Files from which programs take what they run, without being told their names. */
const LOADED: readonly (readonly [programs: RegExp, files: RegExp])[] = [
  [
    /^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|node|deno|tsx)$/,
    /^(?:package\.json|\.npmrc|\.pnpmfile\.cjs|\.yarnrc(?:\.yml)?|bunfig\.toml|deno\.jsonc?)$/,
  ],
  [/^(?:vitest|jest|mocha|eslint|vite|webpack|rollup|tsc|playwright|cypress)$/, /^(?:package\.json|.*\.config\.\w+|\..*rc(?:\.\w+)?)$/],
  [/^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)$/, /\.config\.\w+$|\.(?:test|spec)\.\w+$/],
  [/^(?:g|b)?make$/, /^(?:GNUm|m|M)akefile$|\.mk$/],
  [/^(?:just|rake|bundle|gulp|grunt|task)$/, /^(?:\.?justfile|rakefile|gemfile|gulpfile\.\w+|gruntfile\.\w+|taskfile\.ya?ml)$/i],
  [
    /^(?:python[\d.]*|pypy[\d.]*|pytest|pip[\d.]*|uv|poetry|tox|nox|hatch)$/,
    /\.(?:py|pth)$|^(?:pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini)$/,
  ],
  [/^cargo$/, /\.rs$|^Cargo\.toml$|^config(?:\.toml)?$/],
  [/^go$/, /\.go$|^go\.(?:mod|work)$/],
  [/^(?:gradle|gradlew|mvn|mvnw|ant|sbt)$/, /\.gradle(?:\.kts)?$|^(?:pom|build)\.xml$|\.sbt$/],
  [/^(?:cmake|ninja|meson)$/, /^(?:CMakeLists\.txt|build\.ninja|meson\.build)$|\.cmake$/],
  [
    /^git$/,
    /^(?:\.gitconfig|\.gitattributes|\.gitmodules|config)$|(?:^|-)(?:commit|push|checkout|merge|rebase|applypatch|receive|update|rewrite)(?:-|$)/,
  ],
  [/^docker(?:-compose)?$/, /^(?:Dockerfile|(?:docker-)?compose\.ya?ml)$/],
];

/** Which of the files that a line wrote the program may run, if any. */
export function loadedFileIn(written: ReadonlySet<string>, program: string): string | undefined {
  if (written.size === 0) return undefined;
  const files = LOADED.filter(([programs]) => programs.test(program)).map(([, pattern]) => pattern);
  if (files.length === 0) return undefined;
  return [...written].find((path) => files.some((pattern) => pattern.test(path.slice(path.lastIndexOf("/") + 1))));
}
