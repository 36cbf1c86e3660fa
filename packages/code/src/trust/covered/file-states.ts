import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync, type Stats } from "node:fs";
import { relative, sep } from "node:path";

/** Larger files are known by size and times, not by content. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

const digests = new Map<string, { readonly stat: string; readonly digest: string }>();
const MAX_DIGESTS = 50_000;

/** Returns the SHA-256 of a file. A file whose size and times have not changed is not read again by this process. */
export function digestOfFile(path: string, stats: Stats): string {
  const stat = statText(stats);
  const known = digests.get(path);
  if (known?.stat === stat) return known.digest;
  const digest = stats.size > MAX_READ_BYTES ? stat : createHash("sha256").update(readFileSync(path)).digest("hex");
  if (digests.size >= MAX_DIGESTS) digests.clear();
  digests.set(path, { stat, digest });
  return digest;
}

/** Describes a file by its kind, size and times. The time of the last change of the inode cannot be set by programs. */
export function statText({ mode, size, mtimeMs, ctimeMs }: Stats): string {
  return `${mode}:${size}:${mtimeMs}:${ctimeMs}`;
}

/**
 * Describes a path of a project: that nothing is there, or the path that it really is with the SHA-256 of its content. It changes with the
 * target of any link on the way.
 */
export function stateOfPath(project: string, path: string): string {
  try {
    const real = realpathSync(path);
    if (!isWithin(project, real)) return `outside ${real}`;
    const stats = statSync(real);
    const kind = stats.isFile() ? digestOfFile(real, stats) : stats.isDirectory() ? "folder" : "special";
    return `${slashed(relative(project, real))} ${kind}`;
  } catch {
    return linkState(path);
  }
}

/** A link to nothing is not the same as nothing. */
function linkState(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? `link ${readlinkSync(path)}` : "unreadable";
  } catch {
    return "absent";
  }
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function slashed(path: string): string {
  return path.split(sep).join("/");
}
