import { type Vfs, VfsError } from "@keelson/protocol";
import { folderInTheWay, isDirectory, unsupported } from "./vfs-failures.ts";
import { joinPath } from "./virtual-path.ts";

/** A path of a file system. */
export interface CopyEnd {
  readonly files: Vfs;
  readonly path: string;
}

/**
 * Copies a file, or a folder with the files in it, from one file system into another, and returns their bytes. With
 * `moves` the source goes once the copy is whole. When it fails, what it wrote is removed again.
 */
export async function copyBetween(
  from: CopyEnd,
  to: CopyEnd,
  { moves, signal }: { readonly moves: boolean; readonly signal?: AbortSignal | undefined },
): Promise<number> {
  const options = signal === undefined ? {} : { signal };
  const found = await to.files.stat(to.path, options).catch((error: unknown) => {
    if (VfsError.is(error, "not-found")) return undefined;
    throw error;
  });
  const { isDir } = await from.files.stat(from.path, options);
  if (found !== undefined && (isDir || found.isDir)) throw isDir && !moves ? folderInTheWay(to.path) : isDirectory(to.path);
  // Everything is looked at before anything is written, so that what cannot be copied is known while nothing has happened.
  const plan = await planCopy(from, moves, options);
  const written: string[] = [];
  let bytes = 0;
  try {
    for (const relativePath of plan) {
      signal?.throwIfAborted();
      const { content } = await from.files.read(joinPath(from.path, relativePath), options);
      const target = joinPath(to.path, relativePath);
      await to.files.write(target, content, { ...options, ...(isDir && { ifUnchanged: null }) });
      if (isDir) written.push(target);
      bytes += content.byteLength;
    }
    signal?.throwIfAborted();
  } catch (error) {
    if (isDir && written.length > 0 && to.files.capabilities.has("rm")) await to.files.rm(to.path, { recursive: true });
    throw error;
  }
  if (moves) await from.files.rm(from.path, { recursive: true, ...options });
  return bytes;
}

/** The files to copy, by their paths below the source; `""` is the source itself. */
async function planCopy(from: CopyEnd, moves: boolean, options: { readonly signal?: AbortSignal | undefined }): Promise<string[]> {
  const files: string[] = [];
  const pending = [""];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const path = joinPath(from.path, next);
    const { isDir, isSymlink } = await from.files.stat(path, options);
    // A link to a folder may lead back to where it stands; a link that is moved would be another thing afterwards.
    if (isSymlink && (isDir || moves))
      throw unsupported(
        moves ? "mv" : "cp",
        `${path} is a link, and links cannot go from one file system into another. Copy what it leads to.`,
      );
    if (!isDir) {
      files.push(next);
      continue;
    }
    if (!from.files.capabilities.has("ls"))
      throw unsupported("ls", `${path} is a folder of a file system that cannot list it. Copy its files one by one.`);
    for (const { name } of (await from.files.ls(path, options)).toReversed()) pending.push(next === "" ? name : `${next}/${name}`);
  }
  return files;
}
