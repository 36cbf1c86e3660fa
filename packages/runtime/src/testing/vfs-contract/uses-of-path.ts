import type { Vfs } from "@keelson/protocol";
import type { VfsSubject } from "./create-vfs.ts";

/** Each operation that takes a path and that this file system has. `a.txt` is there. */
export function usesOf(files: Vfs, path: string, can: VfsSubject["can"]): (() => Promise<unknown>)[] {
  return [
    () => files.stat(path),
    () => files.read(path),
    ...(files.readPart === undefined ? [] : [() => files.readPart?.(path, { start: 0, end: 1 }) ?? Promise.resolve()]),
    ...(can("ls") ? [() => files.ls(path)] : []),
    ...(can("write") ? [() => files.write(path, "x")] : []),
    ...(can("edit") ? [() => files.edit(path, "a", "b")] : []),
    ...(can("rm") ? [() => files.rm(path, { recursive: true })] : []),
    ...(can("cd") ? [() => files.cd(path)] : []),
    ...(can("glob") ? [() => files.glob("*", { path })] : []),
    ...(can("grep") ? [() => files.grep("a", { path })] : []),
    ...(can("cp") ? [() => files.cp(path, "copy"), () => files.cp("a.txt", path)] : []),
    ...(can("mv") ? [() => files.mv(path, "moved"), () => files.mv("a.txt", path)] : []),
  ];
}
