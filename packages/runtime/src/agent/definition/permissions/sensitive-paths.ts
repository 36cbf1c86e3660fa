import type { SensitivePaths } from "@keelson/protocol";
import { PathNames } from "../../../environment/workspace/path-names.ts";
import { SECRET_PATHS, SECRET_SAMPLES, SYSTEM_SECRET_PATHS } from "../../../environment/workspace/secret-paths.ts";
import { STEERING_PATHS, SYSTEM_STEERING_PATHS, VERSION_CONTROL_FOLDERS } from "../../../environment/workspace/steering-paths.ts";
import type { Glob } from "./glob.ts";
import { compilePathPattern, matchesPath, type SeenPath } from "./path-pattern.ts";

/** Compiled. A path is looked at in lower case: on many disks `.ENV` is the same file. */
export interface SensitiveSet {
  read(path: SeenPath): boolean;
  write(path: SeenPath): boolean;
}

const NONE: SensitiveSet = { read: () => false, write: () => false };
let usual: SensitiveSet | undefined;

/** @param option `false`: nothing is sensitive. Patterns are added to those that are known. */
export function sensitiveSet(option: SensitivePaths | undefined): SensitiveSet {
  if (option === false) return NONE;
  if (option === undefined) return (usual ??= compileSet({}));
  return compileSet(option);
}

function compileSet({ reads = [], writes = [] }: Exclude<SensitivePaths, false>): SensitiveSet {
  const own = { reads: compileAll(reads), writes: compileAll(writes) };
  const secrets = new PathNames(SECRET_PATHS, SECRET_SAMPLES);
  const steering = new PathNames([...STEERING_PATHS, ...VERSION_CONTROL_FOLDERS]);
  const secretsOfTheSystem = compileAll(SYSTEM_SECRET_PATHS);
  const steeringOfTheSystem = compileAll(SYSTEM_STEERING_PATHS.flatMap((path) => [path, `${path}/**`]));
  const isSecret = (path: SeenPath): boolean => matchesPath(secretsOfTheSystem, path) || secrets.has(path.shown);
  return {
    read(given) {
      const path = inLowerCase(given);
      return isSecret(path) || matchesPath(own.reads, path);
    },
    write(given) {
      const path = inLowerCase(given);
      return isSecret(path) || steering.has(path.shown) || matchesPath(steeringOfTheSystem, path) || matchesPath(own.writes, path);
    },
  };
}

function compileAll(patterns: readonly string[]): readonly Glob[] {
  return patterns.flatMap((pattern) => compilePathPattern(pattern.toLowerCase()));
}

function inLowerCase({ shown, inside, absolute }: SeenPath): SeenPath {
  return { shown: shown.toLowerCase(), inside, ...(absolute !== undefined && { absolute: absolute.toLowerCase() }) };
}
