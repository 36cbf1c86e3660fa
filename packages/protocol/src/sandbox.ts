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
  /** Default: none. */
  readonly deniedCommands?: readonly string[];
};

export type NetworkConfig = {
  readonly enabled: boolean;
  /** Hosts, each with a port if it is another than 80 or 443. Absent: all public domains, on ports 80 and 443. */
  readonly allowedDomains?: readonly string[];
  /** These win over allowed ones. Default: none. */
  readonly deniedDomains?: readonly string[];
};

export type FilesystemConfig = {
  /** Folders that may be written, with all that is in them. Default: the workspace. */
  readonly allowedRoots?: readonly string[];
  /** Files and folders that are neither read nor written. Default: none. */
  readonly deniedPaths?: readonly string[];
};
