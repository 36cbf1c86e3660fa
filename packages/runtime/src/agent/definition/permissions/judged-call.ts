import type { CallEffects, Tool } from "@keelson/protocol";
import { seePath, type SeenPath } from "./path-pattern.ts";

/** What a decision needs to know of a tool. */
export type PermissionSubject = Pick<Tool, "name" | "effect" | "risk" | "category"> & Partial<Pick<Tool, "untrusted">>;

/** One call as rules see it. */
export interface JudgedCall {
  readonly tool: PermissionSubject;
  /** What the tool's `permissionText` says of the final arguments, else their canonical JSON. Asked for once, where a rule looks at it. */
  text(): string;
  /** The canonical JSON of the arguments: what a rule without a wildcard may name as well. */
  json(): string;
  /** Absent where the tool says nothing of its calls. */
  readonly effects: CallEffects | undefined;
  readonly reads: readonly SeenPath[];
  readonly writes: readonly SeenPath[];
  readonly cwd: string | undefined;
}

const NOTHING: readonly SeenPath[] = [];

/** A shell that doesn't say what it runs: nothing of it is known. */
const UNREAD: CallEffects = { unknown: ["The tool does not say which commands this would start."] };

export function judgedCall(given: {
  readonly tool: PermissionSubject;
  readonly argumentText: string | (() => string);
  readonly json: (() => string) | undefined;
  readonly effects: CallEffects | undefined;
  readonly cwd: string | undefined;
}): JudgedCall {
  const { tool, argumentText, json, cwd } = given;
  const effects = given.effects ?? (tool.category === "shell" ? UNREAD : undefined);
  const see = (paths: readonly string[] | undefined): readonly SeenPath[] => paths?.map((path) => seePath(path, cwd)) ?? NOTHING;
  let known: string | undefined;
  const text = (): string => (known ??= typeof argumentText === "string" ? argumentText : argumentText());
  return {
    tool,
    text,
    json: json ?? text,
    effects,
    reads: see(effects?.reads),
    writes: see(effects?.writes),
    cwd,
  };
}

/**
 * It starts programs that are known to change nothing, or none, reads inside the workspace, and that is all.
 * Of tools that start no programs nothing is said here: they declare their effect and their risk.
 */
export function isHarmless({ effects, reads }: JudgedCall): boolean {
  if (effects?.commands === undefined) return false;
  const { commands, unknown, writes, hosts } = effects;
  return (
    isEmpty(unknown) &&
    isEmpty(writes) &&
    isEmpty(hosts) &&
    commands.every(({ readOnly, caution }) => readOnly === true && caution === undefined) &&
    reads.every(({ inside }) => inside)
  );
}

export function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}
