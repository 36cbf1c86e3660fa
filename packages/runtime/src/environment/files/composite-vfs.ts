import {
  type DirEntry,
  type FileInfo,
  type GlobEntry,
  type TransferResult,
  type Vfs,
  type VfsCapability,
  VfsError,
} from "@keelson/protocol";
import { copyBetween } from "./copy-between.ts";
import { compileSearchGlob } from "../search/search-glob.ts";
import { noneIfRefused, otherMount, toldTo } from "./told-to-mount.ts";
import { readPartOf } from "./read-part-of.ts";
import { realPathIn } from "./real-path-in.ts";
import { intoItself, notDirectory, notFound, unsupported } from "./vfs-failures.ts";
import { comparePaths, isWithin, joinPath, namesOf, pathBelow, resolveVirtualPath } from "./virtual-path.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";

export interface Mount {
  /** Where it appears: an absolute path, as in `/store`. Its own root is what stands there. */
  readonly prefix: string;
  readonly backend: Vfs;
}
export interface CompositeVfsOptions {
  readonly mounts: readonly Mount[];
}
export interface CompositeVfs extends Vfs {
  /** What can be done at a path: the capabilities of its mount. Above all mounts, folders can be listed and searched. */
  capabilitiesAt(path: string): ReadonlySet<VfsCapability>;
}

/** A path of the whole, and what it is to the mount it lies in. */
interface Place {
  readonly path: string;
  readonly mount: Mount;
  readonly inner: string;
}

const ABOVE_MOUNTS: readonly VfsCapability[] = ["ls", "pwd", "cd", "grep", "glob"];

/**
 * Several file systems as one. A path belongs to the mount with the longest prefix that it lies in, name by name
 * (`/store` holds `/store/a`, not `/storefront`). The folders that lead to mounts are there by themselves. What can be
 * done at a path is what its mount can; `cp` and `mv` between two mounts need reading in one and writing in the other.
 * A `grep` from above several mounts goes to the first of them that can, in the order they were given; `glob` asks all.
 */
export function createCompositeVfs(options: CompositeVfsOptions): CompositeVfs {
  checkOptionNames("createCompositeVfs", options, { mounts: true });
  const given = options.mounts.map(({ prefix, backend }) => ({ prefix: checkedPrefix(prefix), backend }));
  for (const { prefix } of given)
    if (given.filter((mount) => mount.prefix === prefix).length > 1)
      throw new VfsError({ kind: "other", message: `Two mounts stand at ${prefix}; give each a prefix of its own.` });
  const byLength = given.toSorted((a, b) => b.prefix.length - a.prefix.length);
  let workingDirectory = "/";
  const resolve = (path: string): string => resolveVirtualPath(path, workingDirectory);

  const placeOf = (path: string): Place | undefined => {
    const mount = byLength.find(({ prefix }) => isWithin(prefix, path));
    return mount && { path, mount, inner: joinPath(mount.backend.root ?? "/", pathBelow(mount.prefix, path)) };
  };
  const mountsBelow = (path: string): Mount[] => given.filter(({ prefix }) => prefix !== path && isWithin(path, prefix));
  /** The mount of a path, which can do this; `not-found` above all mounts. */
  const require = (path: string, operation: VfsCapability): Place => {
    const place = placeOf(path);
    if (place === undefined) {
      if (path !== "/" && mountsBelow(path).length === 0) throw notFound(path);
      throw unsupported(operation, `${path} leads to mounts and holds nothing itself; ${operation} is possible below ${prefixes(given)}.`);
    }
    requireCapability(place, operation);
    return place;
  };
  const requireMovable = (place: Place, operation: VfsCapability): void => {
    if (place.path === place.mount.prefix || mountsBelow(place.path).length > 0)
      throw new VfsError({
        kind: "operation-denied",
        path: place.path,
        message: `A file system is mounted at or below ${place.path}; ${operation} would take its place away. Name what lies in it.`,
      });
  };

  const stat: Vfs["stat"] = async (path, callOptions) => {
    callOptions?.signal?.throwIfAborted();
    const whole = resolve(path);
    const place = placeOf(whole);
    const folder: FileInfo = { path: whole, size: 0, isDir: true, isSymlink: false };
    if (place === undefined) {
      if (whole !== "/" && mountsBelow(whole).length === 0) throw notFound(whole);
      return folder;
    }
    if (whole === place.mount.prefix || mountsBelow(whole).length > 0) return folder;
    return within(place, async () => ({ ...(await place.mount.backend.stat(place.inner, callOptions)), path: whole }));
  };

  async function transfer(
    operation: "cp" | "mv",
    from: string,
    to: string,
    callOptions: { readonly signal?: AbortSignal | undefined | undefined } = {},
  ): Promise<TransferResult> {
    callOptions.signal?.throwIfAborted();
    const [sourcePath, targetPath] = [resolve(from), resolve(to)];
    const same = placeOf(sourcePath)?.mount === placeOf(targetPath)?.mount;
    const source = require(sourcePath, same ? operation : "read");
    const target = require(targetPath, same ? operation : "write");
    if (operation === "mv" || same) requireMovable(source, operation);
    requireMovable(target, operation);
    if (same)
      return within(source, async () => ({
        ...(await source.mount.backend[operation](source.inner, target.inner, callOptions)),
        path: targetPath,
      }));
    if (operation === "mv") requireCapability(source, "rm");
    if (isWithin(sourcePath, targetPath)) throw intoItself(sourcePath, targetPath);
    const ends = {
      from: { files: source.mount.backend, path: source.inner },
      to: { files: target.mount.backend, path: target.inner },
    };
    const bytesTransferred = await within(source, () => copyBetween(ends.from, ends.to, { moves: operation === "mv", ...callOptions }));
    return { path: targetPath, bytesTransferred };
  }

  const capabilities = new Set<VfsCapability>([...ABOVE_MOUNTS, ...given.flatMap(({ backend }) => [...backend.capabilities])]);
  for (const search of ["grep", "glob"] as const)
    if (!given.some(({ backend }) => backend.capabilities.has(search))) capabilities.delete(search);
  const any = (...wanted: readonly VfsCapability[]): boolean =>
    given.some(({ backend }) => wanted.every((operation) => backend.capabilities.has(operation)));
  if (given.length > 1 && any("read") && any("write")) {
    capabilities.add("cp");
    if (any("read", "rm")) capabilities.add("mv");
  }

  const files: CompositeVfs = {
    capabilities,
    root: "/",
    async realPath(path) {
      const whole = resolve(path);
      const place = placeOf(whole);
      if (place === undefined) return whole;
      const { prefix, backend } = place.mount;
      return within(place, async () => joinPath(prefix, pathBelow(backend.root ?? "/", await realPathIn(backend, place.inner))));
    },
    capabilitiesAt: (path) => placeOf(resolve(path))?.mount.backend.capabilities ?? new Set(ABOVE_MOUNTS),
    stat,

    async ls(path, callOptions) {
      callOptions?.signal?.throwIfAborted();
      const whole = resolve(path);
      const mounted = mountsBelow(whole).map(({ prefix }) => namesOf(prefix)[namesOf(whole).length] as string);
      const place = placeOf(whole);
      if (place === undefined && whole !== "/" && mounted.length === 0) throw notFound(whole);
      const entries = new Map<string, DirEntry>();
      if (place !== undefined && (mounted.length === 0 || place.mount.backend.capabilities.has("ls"))) {
        requireCapability(place, "ls");
        const listed = await within(place, () => place.mount.backend.ls(place.inner, callOptions));
        for (const entry of listed) entries.set(entry.name, { ...entry, path: joinPath(whole, entry.name) });
      }
      for (const name of mounted) entries.set(name, { name, path: joinPath(whole, name), isDir: true });
      return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async read(path, callOptions) {
      const place = require(resolve(path), "read");
      return within(place, () => place.mount.backend.read(place.inner, callOptions));
    },
    async readPart(path, part) {
      const place = require(resolve(path), "read");
      return within(place, () => readPartOf(place.mount.backend, place.inner, part));
    },
    async write(path, content, callOptions) {
      const place = require(resolve(path), "write");
      return within(place, async () => ({
        ...(await place.mount.backend.write(place.inner, content, callOptions)),
        path: place.path,
      }));
    },
    async edit(path, oldText, newText, callOptions) {
      const place = require(resolve(path), "edit");
      return within(place, async () => ({
        ...(await place.mount.backend.edit(place.inner, oldText, newText, callOptions)),
        path: place.path,
      }));
    },

    async grep(pattern, callOptions = {}) {
      const whole = resolve(callOptions.path ?? ".");
      const start = placeOf(whole) ?? firstBelow(whole);
      requireCapability(start, "grep");
      const told = await toldPaths(start);
      const matches = await within(start, () =>
        start.mount.backend.grep(pattern, { ...callOptions, ...toldTo(told, callOptions), path: start.inner }),
      );
      const others = mountsBelow(whole).filter(({ prefix }) => prefix !== start.mount.prefix);
      for (const { prefix } of others) callOptions.onOmitted?.(otherMount(prefix, start.mount.prefix));
      return matches.map((match) => ({ ...match, file: told(match.file) })).filter(({ file }) => placeOf(file)?.mount === start.mount);
    },

    async glob(pattern, { path = ".", limit = Number.POSITIVE_INFINITY, ...given } = {}) {
      const whole = resolve(path);
      const place = placeOf(whole);
      const below = mountsBelow(whole);
      if (place === undefined && below.length === 0 && whole !== "/") throw notFound(whole);
      if (place !== undefined && below.length === 0) requireCapability(place, "glob");
      const compiled = compileSearchGlob(pattern);
      const found = new Map<string, GlobEntry>();
      if (place?.mount.backend.capabilities.has("glob") === true) {
        const told = await toldPaths(place);
        const options = { ...given, ...toldTo(told, given), path: place.inner };
        const entries = await within(place, () => place.mount.backend.glob(pattern, options)).catch(noneIfRefused(compiled));
        for (const entry of entries) found.set(told(entry.path), { ...entry, path: told(entry.path) });
        for (const hidden of found.keys()) if (placeOf(hidden)?.mount !== place.mount) found.delete(hidden);
      }
      for (const mount of below) {
        for (let depth = namesOf(whole).length + 1; depth <= namesOf(mount.prefix).length; depth++) {
          const folder = `/${namesOf(mount.prefix).slice(0, depth).join("/")}`;
          if (compiled.matches(pathBelow(whole, folder), true)) found.set(folder, { path: folder, isDir: true });
        }
        const inner = placeOf(mount.prefix);
        if (inner?.mount !== mount || !mount.backend.capabilities.has("glob")) continue;
        if (!compiled.mayMatchBelow(pathBelow(whole, mount.prefix))) continue;
        const told = await toldPaths(inner);
        for (const entry of await within(inner, () => mount.backend.glob("**", { ...given, ...toldTo(told, given), path: inner.inner }))) {
          const there = told(entry.path);
          if (placeOf(there)?.mount === mount && compiled.matches(pathBelow(whole, there), entry.isDir))
            found.set(there, { ...entry, path: there });
        }
      }
      if (found.size === 0 && compiled.refusal !== undefined) throw compiled.refusal;
      return [...found.values()].sort((a, b) => comparePaths(a.path, b.path)).slice(0, limit);
    },

    upload: async (from, to, callOptions) => {
      const place = require(resolve(to), "upload");
      return within(place, async () => ({ ...(await place.mount.backend.upload(from, place.inner, callOptions)), path: place.path }));
    },
    download: async (from, to, callOptions) => {
      const place = require(resolve(from), "download");
      return within(place, () => place.mount.backend.download(place.inner, to, callOptions));
    },

    pwd: async () => workingDirectory,

    async cd(path) {
      const whole = resolve(path);
      if (!(await stat(whole)).isDir) throw notDirectory(whole);
      workingDirectory = whole;
    },

    async rm(path, callOptions) {
      const place = require(resolve(path), "rm");
      requireMovable(place, "rm");
      return within(place, () => place.mount.backend.rm(place.inner, callOptions));
    },

    cp: (from, to, callOptions) => transfer("cp", from, to, callOptions),
    mv: (from, to, callOptions) => transfer("mv", from, to, callOptions),
  };
  return checkMethodOptions("files", files, VFS_METHODS);

  function firstBelow(path: string): Place {
    const mount = mountsBelow(path).find(({ backend }) => backend.capabilities.has("grep"));
    const place = mount && placeOf(mount.prefix);
    if (place !== undefined) return place;
    if (path !== "/" && mountsBelow(path).length === 0) throw notFound(path);
    throw unsupported("grep", `No file system below ${path} can search content.`);
  }

  /** Names what a search of a mount finds by the path it has in the whole. A mount may name it by a real path, links followed. */
  async function toldPaths(start: Place): Promise<(inner: string) => string> {
    const { path: real } = await within(start, () => start.mount.backend.stat(start.inner));
    return (inner) => joinPath(start.path, pathBelow(real, inner));
  }
}

function checkedPrefix(prefix: string): string {
  if (!prefix.startsWith("/"))
    throw new VfsError({ kind: "other", message: `The prefix "${prefix}" of a mount is no absolute path: begin it with a slash.` });
  return resolveVirtualPath(prefix, "/");
}

function prefixes(mounts: readonly Mount[]): string {
  return mounts.map(({ prefix }) => prefix).join(", ");
}

function requireCapability({ path, mount }: Place, operation: VfsCapability): void {
  if (!mount.backend.capabilities.has(operation))
    throw unsupported(operation, `What is mounted at ${mount.prefix} cannot do that: ${operation} is not possible for ${path}.`);
}

/** Runs what a mount does; what it says of its own paths is said of those of the whole. */
async function within<T>({ path, mount, inner }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!VfsError.is(error) || path === inner) throw error;
    const root = mount.backend.root ?? "/";
    const { failure } = error;
    if (!("path" in failure) || !isWithin(root, failure.path)) throw error;
    const told = joinPath(mount.prefix, pathBelow(root, failure.path));
    throw new VfsError({ ...failure, path: told, message: failure.message.replaceAll(failure.path, () => told) }, { cause: error });
  }
}
