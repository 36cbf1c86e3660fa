import type { NetworkConfig } from "@keelson/protocol";

/**
 * What commands in a sandbox may touch: plain data, as it stands in a policy file. Paths are absolute, or begin with `~/` (the home
 * folder), or are relative to the workspace. Where two paths meet, the deeper one holds; at the same path a denial holds.
 */
export interface SandboxPolicy {
  /** Of the format. */
  readonly version?: 1;
  readonly filesystem?: FilesystemPolicy;
  /** Absent: no network at all. */
  readonly network?: NetworkPolicyConfig;
  readonly environment?: EnvironmentPolicy;
  readonly resources?: ResourcePolicy;
  readonly commands?: CommandPolicy;
}

export interface FilesystemPolicy {
  /** Folders, with all that is in them. Default: the workspace. */
  readonly writableRoots?: readonly string[];
  /** Absent: everything that is not denied. Given: nothing else but writable roots and the folders of the system's programs. */
  readonly readableRoots?: readonly string[];
  /** Files and folders that are not there for the command. They may not exist yet. */
  readonly deniedPaths?: readonly string[];
  /** Well-known places of keys, tokens and browser profiles are denied, too. Default: true. */
  readonly hideCredentials?: boolean;
  /**
   * Files of the workspace that git does not track are denied if `SECRET_PATHS` names them, and are found anew for each command. Default: false. Their
   * samples (`SECRET_SAMPLES`), and files that git tracks, are not.
   */
  readonly hideSecrets?: boolean;
  /** Paths below the workspace that `hideSecrets` does not hide. */
  readonly revealed?: readonly string[];
  /**
   * Paths below each writable root that stay read-only, and are moved aside if a command makes them. Default: `STEERING_PATHS` in any folder, and
   * `GIT_STEERING_PATHS` in folders of git.
   */
  readonly protectedPaths?: readonly string[];
  /**
   * Folders that only commands in sandboxes use, as for caches of packages: they are writable, and nothing in them is protected, because nothing outside
   * obeys it. Default: none.
   */
  readonly cacheFolders?: readonly string[];
}

/** A host is a name, `*.name` for all names below it, or an address; each may end with `:port`. Without a port it stands for 80 and 443. */
export interface NetworkPolicyConfig extends Omit<NetworkConfig, "deniedDomains"> {
  /** These win over allowed ones. A host without a port is denied on every port. */
  readonly deniedDomains?: readonly string[];
}

export interface EnvironmentPolicy {
  /** Names of variables that are passed on beside the usual ones (`PATH`, `HOME`, `LANG`, …); a `*` at the end stands for any rest. */
  readonly pass?: readonly string[];
  readonly set?: { readonly [name: string]: string };
}

/** Sizes are bytes, or text as in `512MiB`. */
export interface ResourcePolicy {
  /** Processes and threads at once. Default: 2048. */
  readonly processes?: number;
  /**
   * Memory that each process may write to, and where a control group can be made, all of them together. A share of the machine, as in `50%`, holds
   * for all together; where no group can be made, a process that holds more is ended. Default: no limit.
   */
  readonly memory?: number | string;
  /** The largest file that can be written. Default: no limit. */
  readonly fileSize?: number | string;
  readonly openFiles?: number;
  /** Of each process. */
  readonly cpuSeconds?: number;
  /** Processors that the processes of a command may use together, such as 1.5. Only a control group bounds that. Default: no limit. */
  readonly cpus?: number;
  /** What `/tmp`, and each other folder that is made for the command alone, may hold. Default: 1 GiB. */
  readonly temporary?: number | string;
}

/** Programs by name, as in `curl`, or by absolute path. */
export interface CommandPolicy {
  /** Absent: every program that is not denied. */
  readonly allowed?: readonly string[];
  readonly denied?: readonly string[];
}

export const DEFAULT_PROCESSES = 2048;
export const DEFAULT_TEMPORARY_BYTES: number = 1024 ** 3;

/** Below each home folder, unless they are absolute. */
export const CREDENTIAL_PATHS: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".oci",
  ".s3cfg",
  ".boto",
  ".config/gcloud",
  ".config/doctl",
  ".config/glab-cli",
  ".config/hub",
  ".config/rclone",
  ".config/sops",
  ".config/stripe",
  ".config/solana",
  ".config/pypoetry/auth.toml",
  ".config/composer/auth.json",
  ".config/github-copilot",
  ".config/1Password",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  ".config/vivaldi",
  ".config/Signal",
  ".config/Slack",
  ".config/discord",
  ".cache/huggingface/token",
  ".huggingface",
  ".kaggle",
  ".fly",
  ".vercel",
  ".netlify",
  ".wrangler",
  ".cloudflared",
  ".terraformrc",
  ".composer/auth.json",
  ".bundle/config",
  ".pip",
  ".msmtprc",
  ".fetchmailrc",
  ".Xauthority",
  ".bitcoin",
  ".ethereum",
  ".electrum",
  ".local/share/kwalletd",
  ".local/share/fish/fish_history",
  ".local/share/opencode/auth.json",
  ".mysql_history",
  ".rediscli_history",
  ".sqlite_history",
  ".config/gh",
  ".config/git/credentials",
  ".config/op",
  ".config/containers",
  ".config/google-chrome",
  ".config/chromium",
  ".mozilla",
  ".thunderbird",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".password-store",
  ".local/share/keyrings",
  ".pgpass",
  ".my.cnf",
  ".vault-token",
  ".terraform.d",
  ".bash_history",
  ".zsh_history",
  ".node_repl_history",
  ".python_history",
  ".psql_history",
  ".claude",
  ".claude.json",
  ".codex",
  ".gemini",
  ".keelson",
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssh",
  "/etc/krb5.keytab",
  "/etc/kubernetes",
  "/etc/letsencrypt",
  "/etc/NetworkManager/system-connections",
  "/etc/openvpn",
  "/etc/ssl/private",
  "/etc/wireguard",
  "/var/spool/cron",
];
