import { readFileSync, lstatSync } from "node:fs";
import type { Ignore } from "ignore";
import { sameStamp, stampOf, type FileStamp } from "./file-stamp.ts";
import { folderOf, systemPath, textPath } from "./system-path.ts";

/** The rules that hold in a folder: its own, then those of the folders above. Two folders with equal rules share the value. */
export interface FolderRules {
  readonly folder: string;
  readonly rules: Ignore;
  readonly above: FolderRules | undefined;
}

interface KeptRules {
  readonly stamp: FileStamp;
  readonly above: FolderRules | undefined;
  readonly value: FolderRules;
}

type MakeIgnore = (options: { readonly ignorecase: boolean }) => Ignore;

/** Reads the ignore rules of git, and keeps them until their files change. */
export class IgnoreRules {
  readonly #kept = new Map<string, KeptRules>();
  #ignore: MakeIgnore | undefined;

  /** Loads the library that reads patterns. Call it once before the others. */
  async load(): Promise<void> {
    this.#ignore ??= (await import("ignore")).default;
  }

  /** Returns the rules in a folder, of which `file` is the ignore file. A file that cannot be read has no rules. */
  within(folder: string, file: string, above: FolderRules | undefined): FolderRules | undefined {
    const at = systemPath(file);
    try {
      const found = lstatSync(at, { throwIfNoEntry: false });
      if (found === undefined || !found.isFile()) return above;
      const stamp = stampOf(found);
      const kept = this.#kept.get(file);
      if (kept !== undefined && kept.above === above && sameStamp(kept.stamp, stamp)) return kept.value;
      // Case matters in git on the systems on which it matters in paths.
      const rules = this.#make({ ignorecase: process.platform === "darwin" || process.platform === "win32" });
      const value: FolderRules = { folder, rules: rules.add(readFileSync(at, "utf8")), above };
      this.#kept.set(file, { stamp, above, value });
      return value;
    } catch {
      return above;
    }
  }

  #make(options: { readonly ignorecase: boolean }): Ignore {
    if (this.#ignore === undefined) throw new Error("IgnoreRules.load was not called");
    return this.#ignore(options);
  }
}

/** True if the rules leave an entry out whose folder they do not leave out. The nearest file that has a rule for it decides. */
export function isIgnored(rules: FolderRules | undefined, path: string, isFolder: boolean): boolean {
  for (let at = rules; at !== undefined; at = at.above) {
    const inside = textPath(path.slice(at.folder === "/" ? 1 : at.folder.length + 1));
    const { ignored, unignored } = at.rules.test(isFolder ? `${inside}/` : inside);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** Returns the folders from `top` down to the folder of `path`, without that of `path` itself. */
export function foldersBetween(top: string, path: string): readonly string[] {
  const found: string[] = [];
  for (let folder = folderOf(path); folder.length >= top.length && folder !== ""; folder = folderOf(folder)) found.unshift(folder);
  return found;
}
