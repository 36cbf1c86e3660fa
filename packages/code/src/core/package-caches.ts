import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { SANDBOX_PROXY_PORT } from "keelson/environment";
import { mirrorFolder } from "./mirror-folder.ts";

/** Folders for the caches of package managers, and the variables that lead them there. */
export interface PackageCaches {
  readonly folders: readonly string[];
  readonly variables: { readonly [name: string]: string };
}

type Variables = { readonly [name: string]: string | undefined };

const FOLDER_VARIABLES: { readonly [name: string]: string } = {
  npm_config_cache: "npm",
  YARN_GLOBAL_FOLDER: "yarn-global",
  BUN_INSTALL_CACHE_DIR: "bun",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  GOCACHE: "go-build",
  GOMODCACHE: "go-mod",
  GOLANGCI_LINT_CACHE: "golangci-lint",
};

/** Java looks at properties for a proxy, and not at the variables that other programs know. */
const JAVA_PROXY = ["http", "https"].flatMap((scheme) => [`${scheme}.proxyHost=127.0.0.1`, `${scheme}.proxyPort=${SANDBOX_PROXY_PORT}`]);

/**
 * Makes the caches that the commands of one project have in a sandbox, below the folder of Keelson. Those of the person stay as they are: packages that
 * are in them are found where the package manager can look in two places, and else through a folder that mirrors them. Nothing is written from here
 * into a folder that commands could write before.
 */
export function openPackageCaches(home: string, project: string, env: Variables): PackageCaches {
  const digest = createHash("sha256").update(project).digest("hex").slice(0, 12);
  const base = join(home, "caches", `${basename(project).replaceAll(/[^\w.-]/g, "_") || "root"}-${digest}`);
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const folders: string[] = [];
  /** @param fill puts the first files into a folder that is not there yet */
  const open = (name: string, fill?: (folder: string) => void): string => {
    const folder = join(base, name);
    if (!existsSync(folder)) makeWhole(folder, fill);
    folders.push(folder);
    return folder;
  };
  const has = (name: string): boolean => existsSync(join(project, name));
  const own = (variable: string, path: string): string => env[variable] ?? join(homedir(), path);
  /** A folder that mirrors files of the person, for projects that use them; others have an empty one. */
  const openMirror = (name: string, isUsed: boolean, fill: (folder: string) => void): string =>
    isUsed ? open(name, fill) : open(`${name}-empty`);

  const cargo = openMirror("cargo", has("Cargo.toml"), (folder) => {
    for (const name of ["registry/index", "registry/cache", "git/db"])
      mirrorFolder(join(own("CARGO_HOME", ".cargo"), name), join(folder, name));
  });
  const maven = openMirror("maven", has("pom.xml"), (folder) =>
    mirrorFolder(join(homedir(), ".m2", "repository"), join(folder, "repository")),
  );
  const gradle = own("GRADLE_USER_HOME", ".gradle");
  const gradleHome = openMirror("gradle", has("gradlew"), (folder) => {
    mirrorFolder(join(gradle, "wrapper", "dists"), join(folder, "wrapper", "dists"));
    writeFileSync(join(folder, "gradle.properties"), JAVA_PROXY.map((property) => `systemProp.${property}\n`).join(""));
  });
  const modules = env["GOMODCACHE"] ?? join(env["GOPATH"]?.split(":")[0] ?? join(homedir(), "go"), "pkg", "mod");
  const goProxy = env["GOPROXY"] ?? goSetting("GOPROXY", env);
  const store = open("pnpm");
  const variables = {
    ...Object.fromEntries(Object.entries(FOLDER_VARIABLES).map(([name, at]) => [name, open(at)])),
    CARGO_HOME: cargo,
    GRADLE_USER_HOME: gradleHome,
    // The folders are on different mounts, between which no hard link can be made.
    UV_LINK_MODE: "copy",
    ...(goProxy !== undefined && { GOPROXY: `file://${join(modules, "cache", "download")},${goProxy}` }),
    MAVEN_OPTS: [
      ...(env["MAVEN_OPTS"] === undefined ? [] : [env["MAVEN_OPTS"]]),
      ...[`maven.repo.local=${join(maven, "repository")}`, ...JAVA_PROXY, "aether.connector.http.useSystemProperties=true"].map(
        (property) => `-D${property}`,
      ),
    ].join(" "),
    ...(existsSync(join(gradle, "caches")) && { GRADLE_RO_DEP_CACHE: join(gradle, "caches") }),
    // Later versions of Yarn keep a cache in the project itself, which this variable would replace.
    ...(!has(".yarnrc.yml") && { YARN_CACHE_FOLDER: open("yarn") }),
    // npm warns about these.
    ...((has("pnpm-lock.yaml") || has("pnpm-workspace.yaml")) && { npm_config_store_dir: store, pnpm_config_store_dir: store }),
  };
  return { folders, variables };
}

/** Makes a folder with its first files, or nothing: commands see it only when it is whole. */
function makeWhole(folder: string, fill?: (folder: string) => void): void {
  const made = mkdtempSync(`${folder}.new-`);
  fill?.(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** Returns a setting of Go: one that `go env -w` wrote, else the default of the Go that is found first. */
function goSetting(name: string, env: Variables): string | undefined {
  const own = join(env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "go", "env");
  return goSettingIn(own, name) ?? goRoots(env).map((root) => goSettingIn(join(root, "go.env"), name))[0];
}

function goRoots({ GOROOT, PATH = "" }: Variables): readonly string[] {
  if (GOROOT !== undefined) return [GOROOT];
  const program = PATH.split(delimiter)
    .map((folder) => join(folder, "go"))
    .find((path) => existsSync(path));
  return program === undefined ? [] : [dirname(dirname(realpathSync(program)))];
}

function goSettingIn(file: string, name: string): string | undefined {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}
