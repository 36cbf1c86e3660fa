import { randomUUID } from "node:crypto";
import type { Executor, Vfs, VfsCapability } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { forwardFiles } from "../files/forward-files.ts";
import { unsupported } from "../files/vfs-failures.ts";
import type { CommandExecutor } from "./create-executor.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EXECUTOR_METHODS, JOBS_METHODS, VFS_METHODS } from "../../json/interface-methods.ts";

/**
 * Files and the programs that work on them as one. Commands start in the working directory of the files (`cd`), unless they say otherwise.
 * What the executor can't do rejects with `VfsError` of kind `unsupported`, as what the files can't do does.
 */
export interface SandboxVfs extends Vfs, CommandExecutor {
  readonly id: string;
}

export interface SandboxVfsOptions {
  readonly files: Vfs;
  /** Runs programs where the paths of `files` lead to the same files. Absent: nothing runs, and the capability `exec` is missing. */
  readonly executor?: Executor | undefined;
  /** Default: a new one. */
  readonly id?: string | undefined;
}

/** One object for those who are given files and commands together. What confines either is theirs: this adds no boundary. */
export function createSandboxVfs(options: SandboxVfsOptions): SandboxVfs {
  checkOptionNames("createSandboxVfs", options, { files: true, executor: true, id: true });
  const { files, executor, id = `sandbox_${randomUUID().slice(0, 8)}` } = options;
  const started = async <R extends { readonly cwd?: string }>(request: R): Promise<R> => {
    if (request.cwd?.startsWith("/") === true || !files.capabilities.has("pwd")) return request;
    const cwd = await files.pwd();
    return { ...request, cwd: request.cwd === undefined ? cwd : `${cwd}/${request.cwd}` };
  };
  const jobs = (): NonNullable<Executor["jobs"]> => executor?.jobs ?? lacking("runs nothing in the background");
  const sandbox: SandboxVfs = {
    id,
    get root() {
      return files.root ?? "/";
    },
    get capabilities(): ReadonlySet<VfsCapability> {
      return new Set([...files.capabilities, ...(executor === undefined ? [] : (["exec"] as const))]);
    },
    ...forwardFiles(files),
    upload: (...given) => files.upload(...given),
    download: (...given) => files.download(...given),

    ...(executor?.credentials && { credentials: executor.credentials }),
    ...(executor?.confine && { confine: async (effects) => (await executor.confine?.(effects)) ?? effects }),
    execute: async (request) => (executor ?? lacking("runs no commands")).execute(await started(request)),
    pipeline: async (stages, request = {}) =>
      (executor?.pipeline ?? lacking("runs no pipelines")).call(executor, stages, await started(request)),
    processes: async () => (executor?.processes ?? lacking("does not tell its processes")).call(executor),
    jobs: {
      start: async (request) => jobs().start(await started(request)),
      poll: async (...given) => jobs().poll(...given),
      kill: async (job) => jobs().kill(job),
      ended: async (job) => jobs().ended(job),
      list: async () => jobs().list(),
    },
  };
  checkMethodOptions("exec.jobs", sandbox.jobs, JOBS_METHODS);
  return checkMethodOptions("sandbox", sandbox, { ...VFS_METHODS, ...EXECUTOR_METHODS });

  function lacking(what: string): never {
    throw unsupported("exec", `The sandbox ${id} ${what}. Give createSandboxVfs an executor that does.`);
  }
}
