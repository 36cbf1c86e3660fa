/** The short form of an `EnvironmentSpec`, as agents are configured with it. */
export interface SandboxConfig {
  readonly enabled: boolean;
  readonly network?: NetworkConfig;
  readonly filesystem?: FilesystemConfig;
  /** Absent: every command that is not denied. */
  readonly allowedCommands?: readonly string[];
  readonly deniedCommands: readonly string[];
}

export interface NetworkConfig {
  readonly enabled: boolean;
  /** Absent: all domains. */
  readonly allowedDomains?: readonly string[];
  readonly deniedDomains: readonly string[];
}

export interface FilesystemConfig {
  readonly allowedRoots: readonly string[];
  readonly deniedPaths: readonly string[];
}
