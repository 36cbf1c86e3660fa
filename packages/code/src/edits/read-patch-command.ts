/** A command line that means a patch. */
export interface PatchCommand {
  readonly patch: string;
  /** The folder that a `cd` in front of it goes to. */
  readonly folder: string | undefined;
}

const NAME = String.raw`(?:apply_patch|applypatch|apply-patch)`;
// A path without anything that a shell would expand.
const WORD = String.raw`(?:'([^'\n]+)'|"([^"\n$\x60\\]+)"|([\w./@%+,:=-]+))`;
const LEAD = String.raw`^\s*(?:cd\s+(?:--\s+)?${WORD}[ \t]*(?:&&|;|\n)\s*)?${NAME}\s*`;
const HEREDOC = new RegExp(String.raw`${LEAD}<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\n([^]*?)\n[ \t]*(?:\4|\5|\6)\s*$`);
const QUOTED = new RegExp(String.raw`${LEAD}(?:--\s+)?(?:'([^']*)'|"([^"$\x60\\]*)")\s*$`);

/**
 * Reads a command line that applies a patch and does nothing else: `apply_patch <<'EOF'`, or with the patch in quotes, also behind `cd folder &&`. There is no such
 * program: the models of one family were trained on it.
 */
export function readPatchCommand(command: string): PatchCommand | undefined {
  const heredoc = HEREDOC.exec(command);
  if (heredoc !== null) {
    const [, single, double, plain, one, two, three, patch] = heredoc;
    const mark = (one ?? two ?? three) as string;
    // The first line with the mark ends the text for a shell; more text behind it would be other commands.
    if ((patch as string).split("\n").some((line) => line.trim() === mark)) return undefined;
    if (!(heredoc[0] as string).trimEnd().endsWith(mark)) return undefined;
    return { patch: patch as string, folder: single ?? double ?? plain };
  }
  const quoted = QUOTED.exec(command);
  if (quoted === null) return undefined;
  const [, single, double, plain, one, two] = quoted;
  const patch = (one ?? two) as string;
  return /^\s*\*\*\* Begin Patch/.test(patch) ? { patch, folder: single ?? double ?? plain } : undefined;
}
