// Types and no interfaces: what stands in an authority is JSON.

/** The short form of an `EnvironmentSpec`, as agents are configured with it. */
export type SandboxConfig = {
  readonly enabled: boolean;
  /** Absent: none. */
  readonly network?: NetworkConfig;
  /** Absent: the workspace may be written. */
  readonly filesystem?: FilesystemConfig;
  /** Absent: every command that is not denied. */
  readonly allowedCommands?: readonly string[];
  readonly deniedCommands: readonly string[];
};

export type NetworkConfig = {
  readonly enabled: boolean;
  /** Absent: all public domains. */
  readonly allowedDomains?: readonly string[];
  /** These win over allowed ones. */
  readonly deniedDomains: readonly string[];
};

export type FilesystemConfig = {
  /** Folders that may be written, with all that is in them. */
  readonly allowedRoots: readonly string[];
  /** Files and folders that are neither read nor written. */
  readonly deniedPaths: readonly string[];
};
