import { join } from "node:path";

/** A file of instructions that is looked for. */
export interface InstructionPlace {
  readonly path: string;
  /** The folder that it must not lead out of. Absent: the file is the person's own. */
  readonly within?: string;
  /** True if `@path` in it names a file to read as well. */
  readonly imports: boolean;
}

const NAMES: readonly { readonly name: string; readonly imports: boolean }[] = [
  { name: ".claude/CLAUDE.md", imports: true },
  { name: "CLAUDE.md", imports: true },
  { name: "AGENTS.md", imports: false },
  { name: "AGENTS.override.md", imports: false },
  { name: "CLAUDE.local.md", imports: true },
];

/** The names of files of instructions below a folder. */
export const INSTRUCTION_NAMES: readonly string[] = NAMES.map(({ name }) => name);

/** The files of instructions of a folder; a later one counts for more. */
export function placesIn(folder: string, within: string): readonly InstructionPlace[] {
  return NAMES.map(({ name, imports }) => ({ path: join(folder, name), within, imports }));
}

/** The person's own files of instructions: that for Claude Code, then those in the folder of Keelson. */
export function ownPlaces({
  home,
  userHome,
}: {
  readonly home?: string | undefined;
  readonly userHome?: string | undefined;
}): readonly InstructionPlace[] {
  return [
    ...(userHome === undefined ? [] : [{ path: join(userHome, ".claude/CLAUDE.md"), imports: true }]),
    ...(home === undefined ? [] : ["AGENTS.md", "AGENTS.override.md"].map((name) => ({ path: join(home, name), imports: false }))),
  ];
}

/** The file that is read instead of this one, if it is there. */
export function overrideOf(path: string): string | undefined {
  return path.endsWith("/AGENTS.md") ? path.replace(/AGENTS\.md$/, "AGENTS.override.md") : undefined;
}
