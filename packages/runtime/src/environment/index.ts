export { type ArchiveVfs, type ArchiveVfsOptions, createArchiveVfs } from "./files/archive-vfs.ts";
export { type CompositeVfs, type CompositeVfsOptions, type Mount, createCompositeVfs } from "./files/composite-vfs.ts";
export { type DiskVfs, type DiskVfsOptions, createDiskVfs } from "./files/disk-vfs.ts";
export { type GlobPattern, compileGlob } from "./files/glob-pattern.ts";
export { type MemoryVfsOptions, createMemoryVfs } from "./files/memory-vfs.ts";
export { type StoreVfsOptions, createStoreVfs } from "./files/store-vfs.ts";
export { type TransferVfsOptions, createTransferVfs } from "./files/transfer-vfs.ts";
export { isTemporaryName } from "./files/temporary-file.ts";
export { findSearchProblem } from "./search/find-search-problem.ts";
export { makeFolder } from "../platform/make-folder.ts";
export { type OutputWindow, createOutputWindow } from "./execution/output-window.ts";
export type { CommandExecutor } from "./execution/create-executor.ts";
export type { ChildEnvironment, WithheldVariable } from "./execution/child-environment.ts";
export { createCommandEnvironment, type CommandEnvironmentOptions } from "./execution/command-environment.ts";
export { type ProcessExecutorOptions, createProcessExecutor } from "./execution/process-executor.ts";
export { type SandboxVfs, type SandboxVfsOptions, createSandboxVfs } from "./execution/sandbox-vfs.ts";
export { type StartJobOptions, startJob } from "./execution/start-job.ts";
export { type ContainerEnvironmentOptions, createContainerEnvironment } from "./operators/container-environment.ts";
export type { ContainerMount } from "./container/container-config.ts";
export { createLocalEnvironment } from "./operators/local-environment.ts";
export { createProcessEnvironment, type ProcessEnvironmentOptions } from "./operators/process-environment.ts";
export { createSandboxEnvironment, type SandboxEnvironmentOptions } from "./operators/sandbox-environment.ts";
export { serveOperator } from "./operators/serve-operator.ts";
export { canFindStrays } from "./execution/stray-processes.ts";
export { judgeEffects } from "./sandbox/judge-effects.ts";
export type { PolicyPlaces } from "./sandbox/policy-places.ts";
export { createSandboxExecutor } from "./sandbox/sandbox-executor.ts";
export { PROXY_PORT as SANDBOX_PROXY_PORT } from "./sandbox/sandbox-environment.ts";
export { createSandboxSession, type SandboxSession } from "./sandbox/session/sandbox-session.ts";
export type { SandboxExecutorOptions } from "./sandbox/sandbox-executor-options.ts";
export { policyFromEnvironmentSpec, policyFromSandboxConfig } from "./sandbox/policy-from-config.ts";
export { createSeatbeltProfile, type SeatbeltProfileOptions } from "./sandbox/seatbelt-profile.ts";
export { readSandboxPolicy } from "./sandbox/read-sandbox-policy.ts";
export {
  type CommandPolicy,
  CREDENTIAL_PATHS,
  type EnvironmentPolicy,
  type FilesystemPolicy,
  type NetworkPolicyConfig,
  type ResourcePolicy,
  type SandboxPolicy,
} from "./sandbox/sandbox-policy.ts";
export { findSecretFiles, type SecretFiles } from "./sandbox/secret-files.ts";
export { PathNames } from "./workspace/path-names.ts";
export { SECRET_PATHS, SECRET_SAMPLES } from "./workspace/secret-paths.ts";
export { GIT_STEERING_PATHS, STEERING_PATHS } from "./workspace/steering-paths.ts";
export { isPublicAddress } from "../transport/public-address.ts";
export type { Dial, FilteringProxyOptions, NetworkDecision } from "./sandbox/network/filtering-proxy.ts";
export type { ResolveHost } from "./sandbox/network/resolve-host.ts";
export { createOverlay, type OverlayOptions } from "./overlay/create-overlay.ts";
export type { CommitOptions, CommitResult, Overlay, OverlayChange } from "./overlay/overlay.ts";
export type { OverlayConflict, Resolution } from "./overlay/plan-commit.ts";
export { readCommandLine } from "./command-line/read-command-line.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type {
  BackgroundJob,
  CallEffects,
  Environment,
  EnvironmentSpec,
  ExecuteRequest,
  ExecuteResponse,
  MovedEntry,
  Executor,
  GlobOptions,
  PartOptions,
  GrepMatch,
  GrepOptions,
  JobInfo,
  JobOutput,
  JobRequest,
  Jobs,
  PipelineRequest,
  PipelineResponse,
  PipelineStage,
  ProcessInfo,
  ToolCall,
  Vfs,
} from "@keelson/protocol";
