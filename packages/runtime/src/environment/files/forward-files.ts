import type { Vfs } from "@keelson/protocol";
import { readPartOf } from "./read-part-of.ts";
import { realPathIn } from "./real-path-in.ts";

/** What a `Vfs` around another one leaves to that: all but its capabilities, its root, and what moves files to and from it. */
export function forwardFiles(files: Vfs): Omit<Vfs, "capabilities" | "root" | "upload" | "download"> {
  return {
    realPath: (path) => realPathIn(files, path),
    ls: (...given) => files.ls(...given),
    stat: (...given) => files.stat(...given),
    read: (...given) => files.read(...given),
    readPart: (...given) => readPartOf(files, ...given),
    write: (...given) => files.write(...given),
    edit: (...given) => files.edit(...given),
    grep: (...given) => files.grep(...given),
    glob: (...given) => files.glob(...given),
    pwd: () => files.pwd(),
    cd: (path) => files.cd(path),
    rm: (...given) => files.rm(...given),
    cp: (...given) => files.cp(...given),
    mv: (...given) => files.mv(...given),
  };
}
