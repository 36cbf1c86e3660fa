import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { SANDBOX_PROXY_PORT } from "keelson/environment";
import { mirrorFolder } from "./mirror-folder.ts";

/** A folder for the caches of package managers, and the variables that lead them there. */
export interface PackageCaches {
  readonly folder: string;
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
  CARGO_HOME: "cargo",
  GRADLE_USER_HOME: "gradle",
};

/** Java looks at properties for a proxy, and not at the variables that other programs know. */
const JAVA_PROXY = ["http", "https"].flatMap((scheme) => [`${scheme}.proxyHost=127.0.0.1`, `${scheme}.proxyPort=${SANDBOX_PROXY_PORT}`]);

/**
 * Makes the caches that the commands of one project have in a sandbox, below the folder of Keelson. Those of the person stay as they are: packages that
 * are in them are found where the package manager can look in two places, and else through a folder that mirrors them.
 */
export function openPackageCaches(home: string, project: string, env: Variables): PackageCaches {
  const digest = createHash("sha256").update(project).digest("hex").slice(0, 12);
  const folder = join(home, "caches", `${basename(project).replaceAll(/[^\w.-]/g, "_") || "root"}-${digest}`);
  const has = (name: string): boolean => existsSync(join(project, name));
  const own = (variable: string, path: string): string => env[variable] ?? join(homedir(), path);

  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cargo = own("CARGO_HOME", ".cargo");
  if (has("Cargo.toml"))
    for (const name of ["registry/index", "registry/cache", "git/db"]) mirrorFolder(join(cargo, name), join(folder, "cargo", name));
  const maven = join(homedir(), ".m2", "repository");
  if (has("pom.xml")) mirrorFolder(maven, join(folder, "maven"));
  const gradle = own("GRADLE_USER_HOME", ".gradle");
  if (has("gradlew")) mirrorFolder(join(gradle, "wrapper", "dists"), join(folder, "gradle", "wrapper", "dists"));
  for (const name of [...Object.values(FOLDER_VARIABLES), "yarn", "pnpm", "maven"])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });

  const properties = join(folder, "gradle", "gradle.properties");
  if (!existsSync(properties)) writeFileSync(properties, JAVA_PROXY.map((property) => `systemProp.${property}\n`).join(""));

  const modules = env["GOMODCACHE"] ?? join(env["GOPATH"]?.split(":")[0] ?? join(homedir(), "go"), "pkg", "mod");
  const store = join(folder, "pnpm");
  return {
    folder,
    variables: {
      ...Object.fromEntries(Object.entries(FOLDER_VARIABLES).map(([name, at]) => [name, join(folder, at)])),
      // The folders are on different mounts, between which no hard link can be made.
      UV_LINK_MODE: "copy",
      GOPROXY: [
        `file://${join(modules, "cache", "download")}`,
        env["GOPROXY"] ?? goSetting("GOPROXY") ?? "https://proxy.golang.org,direct",
      ].join(","),
      MAVEN_OPTS: [
        env["MAVEN_OPTS"],
        ...[`maven.repo.local=${join(folder, "maven")}`, ...JAVA_PROXY, "aether.connector.http.useSystemProperties=true"].map(
          (property) => `-D${property}`,
        ),
      ]
        .filter(Boolean)
        .join(" "),
      ...(existsSync(join(gradle, "caches")) && { GRADLE_RO_DEP_CACHE: join(gradle, "caches") }),
      // Later versions of Yarn keep a cache in the project itself, which this variable would replace.
      ...(!has(".yarnrc.yml") && { YARN_CACHE_FOLDER: join(folder, "yarn") }),
      // npm warns about these.
      ...((has("pnpm-lock.yaml") || has("pnpm-workspace.yaml")) && { npm_config_store_dir: store, pnpm_config_store_dir: store }),
    },
  };
}

/** Returns a setting that `go env -w` wrote. */
function goSetting(name: string): string | undefined {
  const folder = process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  try {
    const lines = readFileSync(join(folder, "go", "env"), "utf8").split("\n");
    return lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}
