import type { SensitivePaths } from "@keelson/protocol";
import type { Glob } from "./glob.ts";
import { compilePathPattern, matchesPath, type SeenPath } from "./path-pattern.ts";

/** Keys and credentials: reading them gives them away, writing them takes something over. */
const SECRETS: readonly string[] = [
  ...[".env", ".env.*", ".envrc", ".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf", ".pypirc", ".htpasswd", ".vault-token"],
  ...["*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk"],
  ...["id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials.json", "service-account*.json", "service_account*.json"],
  ...[".ssh/**", ".gnupg/**", ".aws/**", ".azure/**", ".kube/**", ".config/gcloud/**", ".config/gh/**", ".keelson/**"],
  ...[".docker/config.json", ".cargo/credentials*", ".gem/credentials", ".terraform.d/credentials*"],
].map((name) => `**/${name}`);
const SECRETS_OF_THE_SYSTEM: readonly string[] = ["/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/proc/*/environ", "/proc/*/mem"];

/** Samples without secrets. They may be read and written. */
const SAMPLES: readonly string[] = [".env.example", ".env.sample", ".env.template", ".env.dist"].map((name) => `**/${name}`);

/** What steers agents, editors, version control, package managers and shells: whoever writes it decides what runs later. */
const STEERING: readonly string[] = [
  ...[".git/**", ".gitmodules", ".gitconfig", ".config/git/**", ".hg/**", ".svn/**"],
  ...[".husky/**", ".githooks/**", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"],
  ...["AGENTS.md", "AGENTS.override.md", "AGENTS.local.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".github/copilot-instructions.md"],
  ...[".cursorrules", ".cursor/**", ".windsurfrules", ".windsurf/**", ".clinerules", ".clinerules/**", ".aider.conf.yml", ".mcp.json"],
  ...[".agents/**", ".amazonq/**", ".claude/**", ".codex/**", ".continue/**", ".gemini/**", ".kiro/**", ".opencode/**", ".roo/**"],
  ...[".vscode/**", ".idea/**", ".zed/**", ".devcontainer/**", "*.code-workspace"],
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".mise.toml", "mise.toml"],
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc", ".kshrc", ".cshrc", ".tcshrc"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/fish/**", ".vimrc", ".exrc", ".config/nvim/**", ".tmux.conf"],
  ...[".config/systemd/**", ".config/autostart/**", "Library/LaunchAgents/**"],
].map((name) => `**/${name}`);
const STEERING_OF_THE_SYSTEM: readonly string[] = [
  "/etc/**",
  "/var/spool/cron/**",
  "/boot/**",
  "/usr/lib/systemd/**",
  "/Library/LaunchDaemons/**",
];

/** Compiled. A path is looked at in lower case: on many disks `.ENV` is the same file. */
export interface SensitiveSet {
  read(path: SeenPath): boolean;
  write(path: SeenPath): boolean;
}

const NONE: SensitiveSet = { read: () => false, write: () => false };
let usual: SensitiveSet | undefined;

/** @param option `false`: nothing is sensitive. Patterns are added to those that are known. */
export function sensitiveSet(option: SensitivePaths | undefined): SensitiveSet {
  if (option === false) return NONE;
  if (option === undefined) return (usual ??= compileSet({}));
  return compileSet(option);
}

function compileSet({ reads = [], writes = [] }: Exclude<SensitivePaths, false>): SensitiveSet {
  const samples = compileAll(SAMPLES);
  const own = { reads: compileAll(reads), writes: compileAll(writes) };
  const secrets = compileAll([...SECRETS, ...SECRETS_OF_THE_SYSTEM]);
  const steering = compileAll([...STEERING, ...STEERING_OF_THE_SYSTEM]);
  const isSecret = (path: SeenPath): boolean => matchesPath(secrets, path) && !matchesPath(samples, path);
  return {
    read(given) {
      const path = inLowerCase(given);
      return isSecret(path) || matchesPath(own.reads, path);
    },
    write(given) {
      const path = inLowerCase(given);
      return isSecret(path) || matchesPath(steering, path) || matchesPath(own.writes, path);
    },
  };
}

function compileAll(patterns: readonly string[]): readonly Glob[] {
  return patterns.flatMap((pattern) => compilePathPattern(pattern.toLowerCase()));
}

function inLowerCase({ shown, inside, absolute }: SeenPath): SeenPath {
  return { shown: shown.toLowerCase(), inside, ...(absolute !== undefined && { absolute: absolute.toLowerCase() }) };
}
